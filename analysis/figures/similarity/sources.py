"""The cosine of two texts as a sum over sources, and what remains of it without positions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS, Colour
from analysis.core.formatting import fixed, signed
from analysis.core.term_names import SOURCES
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure
from analysis.figures.similarity.run import SIMILARITY_RUN, method_note
from analysis.measurements.similarity.result import GROUPS, Similarity, group_of

COLOURS: dict[str, Colour] = dict(
    zip(GROUPS, (TERMS["word"], TERMS["word_to_position"], TERMS["position"], TERMS["bias"]), strict=True)
)
TOTAL, LESS, RUN = "cosine of the two texts", "without what positions add", "run without positions"
NUMBER_ROOM = 0.16
"""The part of the axis that is left for the numbers beside the bars."""


@figure("similarity_sources", Parameters, live=SIMILARITY_RUN)
def similarity_sources(_: Parameters, result: Similarity) -> Figure:
    """Bars that begin where the last one ended, down to the cosine; and that of the model run without positions."""
    rows = [
        (first, second, group_of(first, second), float(result.by_source[i, j]))
        for i, first in enumerate(SOURCES)
        for j, second in enumerate(SOURCES)
    ]
    frame = pd.DataFrame(rows, columns=["source_of_first", "source_of_second", "part", "value"])
    totals = {TOTAL: result.cosine, LESS: result.without_parts, RUN: result.without_positions}
    extra = [("", "", name, value) for name, value in totals.items() if np.isfinite(value)]
    frame = pd.concat([frame, pd.DataFrame(extra, columns=list(frame))], ignore_index=True)
    groups = result.by_group()
    positional = groups[GROUPS[1]] + groups[GROUPS[2]]
    ran = (
        f"run without positions, the model gives {fixed(result.without_positions, 3)}"
        if np.isfinite(result.without_positions)
        else f"the model cannot be run without positions: {result.why_not}".removesuffix(".")
    )
    text = ", ".join(f"{name} {signed(value, 3)}" for name, value in groups.items())
    return Figure(
        title="The cosine as a sum over sources",
        finding=_with_and_without(result),
        frame=lambda: frame,
        caption=(
            f"{_why(result, positional)}Each bar begins where the one above ends, and the four end at the cosine. "
            "Grey: that of the same model run without positions. Products with a position give "
            f"{signed(positional, 3)} of it. A part is the sum of the products of what two sources contribute, over "
            f"the product of the vectors' lengths: {text}. Without what positions "
            "contribute to the final vectors, but with attention "
            f"patterns as they were, the cosine is {fixed(result.without_parts, 3)}; {ran}, where patterns change, "
            f"too. {method_note(result)}"
        ),
        alt=f"Bars of {len(groups)} parts that add up to the cosine {fixed(result.cosine, 3)}: {text}.",
        draw=lambda theme: [_draw(groups, {name: totals[name] for name in (TOTAL, RUN)}, theme)],
    )


def _with_and_without(result: Similarity) -> str:
    """The cosine, and that of the same model run without positions, where it can be."""
    cosine, without = fixed(result.cosine, 3), result.without_positions
    if not np.isfinite(without):
        return f"The cosine is {cosine}"
    if fixed(without, 3) == cosine:
        return f"The cosine is {cosine}, with positions and run without them"
    verb = "raise" if result.cosine > without else "lower"
    return f"Positions {verb} the cosine of the two texts from {fixed(without, 3)} to {cosine}"


def _why(result: Similarity, positional: float) -> str:
    """A sentence on why the bars with a position and the run without positions disagree; empty where they agree."""
    gain = result.cosine - result.without_positions
    if not np.isfinite(gain) or positional * gain >= 0:
        return ""
    adds, rest = ("raise", "higher") if positional > 0 else ("lower", "lower")
    return (
        "Run without positions, the model also attends differently, and every bar changes. That is why its cosine is "
        f"{rest}, although the two bars with a position {adds} the cosine. "
    )


def _draw(groups: dict[str, float], totals: dict[str, float], theme: Theme) -> Chart:
    """A step for each group, then a bar from zero for each cosine."""
    ends = np.cumsum(list(groups.values())).tolist()
    steps = [
        (name, start, end, signed(value, 3), theme.colour(COLOURS[name]))
        for (name, value), start, end in zip(groups.items(), [0.0, *ends[:-1]], ends, strict=True)
    ]
    whole = [
        (name, 0.0, value, fixed(value, 3), theme.ink if name == TOTAL else theme.faint)
        for name, value in totals.items()
        if np.isfinite(value)
    ]
    frame = pd.DataFrame([*steps, *whole], columns=["label", "start", "end", "number", "colour"])
    frame = frame.assign(right=frame[["start", "end"]].max(axis=1))
    low, high = min(0.0, float(frame[["start", "end"]].min().min())), float(frame.right.max())
    x = marks.number(alt.X, "start", "cosine", domain=(low, high + NUMBER_ROOM * (high - low)), ticks=6)
    frame = frame.assign(label=frame.label.map(marks.level_labels(list(frame.label))))
    y = marks.labelled_rows(list(frame.label))
    base = alt.Chart(frame)
    bars = base.mark_bar(height={"band": 0.62}).encode(
        x=x, x2="end:Q", y=y, color=alt.Color("colour:N", scale=None, legend=None),
        tooltip=marks.tips(("label", "part"), ("number", "value")),
    )  # fmt: skip
    # What is run without positions is no part of the sum above it.
    apart = frame.iloc[-1:] if len(whole) > 1 else frame.iloc[:0]
    line = marks.lines_above(apart, y, color=theme.ink, strokeWidth=1, strokeDash=marks.DASH, x=0, x2=alt.expr("width"))
    numbers = base.mark_text(align="left", dx=6, fontSize=13, color=theme.ink).encode(
        x=marks.same_axis(x, "right"), y=y, text="number:N"
    )
    return marks.panel(
        marks.rule(theme, x=0), bars, line, numbers, theme=theme, width=marks.WIDE, height=34 * len(frame)
    )
