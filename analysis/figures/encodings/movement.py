"""Movement of every column of an encoding over the rows, and the few columns that hold the variance."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.formatting import join_names, percent, sentences
from analysis.encodings import measures
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.sized import (
    HEIGHT,
    EncodingPairParameters,
    SizedEncoding,
    citation_keys,
    empty_panel,
    export_command,
    hues_of,
    origins,
    pair,
    title_colours,
)
from analysis.figures.figure import Figure, figure
from analysis.figures.panels import names_at

THRESHOLD = 0.5
MOST = 0.99
"""The share of the variance that the finding counts columns for."""
ALIKE = 3
"""The ratio of two encodings' largest ranges up to which they share an axis: beyond it one would lie flat."""
BARS = 64
"""The most bars of a panel."""


@figure("encoding_movement", EncodingPairParameters)
def movement(params: EncodingPairParameters) -> Figure:
    """Range and standard deviation of every column over the rows, and how few columns hold the variance (claim C02)."""
    shown = pair(params)
    movements = [measures.movement(entry.table()) for entry in shown]
    same_unit = len({entry.unit for entry in shown}) == 1

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame(
                {
                    "encoding": entry.name,
                    "title": entry.title,
                    "column": np.arange(entry.dim),
                    "range": m.range,
                    "sd": m.sd,
                }
            )
            for entry, m in zip(shown, movements, strict=True)
        ).reset_index(drop=True)

    highest = [_highest_bar(entry, m) for entry, m in zip(shown, movements, strict=True)]
    ratio = max(highest) / min(highest) if min(highest) else 1.0
    if not same_unit:
        scale = "The scales differ, because the values differ in kind."
    elif ratio > ALIKE:
        scale = f"Each has a scale of its own, since the values of one range over {ratio:.0f} times as much."
    else:
        highest, scale = [max(highest)] * len(highest), "Both are on one scale."
    return Figure(
        title="How much each dimension moves",
        finding=_finding(shown, movements),
        frame=frame,
        caption=sentences(
            "Range (largest minus smallest value) and standard deviation (sd) of the columns over the rows; at the "
            "right, the share of all variance that the most variable columns hold.",
            scale if len(shown) > 1 else "",
            f"A bar is the mean over neighbouring columns where there are more than {BARS}; the data hold every column."
            if max(entry.dim for entry in shown) > BARS
            else "",
            *(_movement_sentence(entry, m) for entry, m in zip(shown, movements, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_movement_alt(entry, m) for entry, m in zip(shown, movements, strict=True)),
        command=export_command("encoding_movement", params),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        columns=len(shown) + 1,
        draw=lambda theme: _panels(frame(), shown, highest, _cumulative_variance(shown, movements), theme),
    )


def _cumulative_variance(shown: list[SizedEncoding], movements: list[measures.Movement]) -> pd.DataFrame:
    """Cumulative share of variance over columns, the most variable first; nothing where nothing varies."""
    parts = [pd.DataFrame({"title": [], "columns": [], "variance": []})]
    for entry, m in zip(shown, movements, strict=True):
        variance = np.sort(m.sd**2)[::-1]
        if variance.sum() > 0:
            cumulative = np.concatenate([[0], variance.cumsum() / variance.sum()])
            parts.append(
                pd.DataFrame(
                    {"title": entry.title, "columns": np.arange(entry.dim + 1) / entry.dim, "variance": cumulative}
                )
            )
    return pd.concat(parts[1:] or parts, ignore_index=True)


def _movement_sentence(entry: SizedEncoding, m: measures.Movement) -> str:
    if not m.sd.any():
        return f"{entry.title}: no column moves."
    half, count = (entry.dim + 1) // 2, m.moving(THRESHOLD)
    return (
        f"{entry.title}: {count} of {entry.dim} {entry.column}s ({percent(count / entry.dim, 1)}) range over more than "
        f"{THRESHOLD}; the {half} most variable hold {percent(m.top_share(half), 1)} of the variance; the first half "
        f"of the columns ranges over {m.range[:half].mean():.3g} on average, the last over "
        f"{m.range[entry.dim // 2 :].mean():.3g}."
    )


def _movement_alt(entry: SizedEncoding, m: measures.Movement) -> str:
    return (
        f"{entry.title}: the range is largest, {m.range.max():.3g}, in {entry.column} {m.range.argmax()} and smallest, "
        f"{m.range.min():.3g}, in {entry.column} {m.range.argmin()}; the first {entry.column} ranges over "
        f"{m.range[0]:.3g}, the last over {m.range[-1]:.3g}."
    )


def _highest_bar(entry: SizedEncoding, m: measures.Movement) -> float:
    """The largest range that a bar of the encoding's panel stands for."""
    columns = pd.DataFrame({"column": np.arange(entry.dim), "range": m.range, "sd": m.sd})
    return float(bars_of_columns(columns)["range"].max())


def _finding(shown: Sequence[SizedEncoding], movements: Sequence[measures.Movement]) -> str:
    """The share of the columns of each encoding that hold nearly all of its variance; empty where nothing varies."""
    parts = [
        f"{percent(_columns_with_most(moved) / entry.dim)} of the {entry.column}s of {entry.title}"
        for entry, moved in zip(shown, movements, strict=True)
        if moved.sd.any()
    ]
    return f"{percent(MOST)} of what varies lies in {join_names(parts)}" if parts else ""


def _columns_with_most(moved: measures.Movement) -> int:
    """The number of columns, counted from the most variable, that together hold nearly all of the variance."""
    variance = np.sort(moved.sd**2)[::-1]
    return int(np.searchsorted(variance.cumsum(), MOST * variance.sum()) + 1)


def _panels(
    frame: pd.DataFrame,
    shown: Sequence[SizedEncoding],
    highest: Sequence[float],
    cumulative: pd.DataFrame,
    theme: Theme,
) -> list[Chart]:
    """Range and deviation by column, one panel an encoding; then the share of variance that the top columns hold."""
    panels = []
    for entry, top in zip(shown, highest, strict=True):
        colour = hues_of(shown, theme)[entry.title]
        rows = frame.loc[frame.encoding == entry.name]
        if not rows["range"].to_numpy().any():
            panels.append(empty_panel(entry, f"No {entry.column} moves.", theme=theme))
            continue
        bars = bars_of_columns(rows)
        base = alt.Chart(bars).encode(
            x=marks.number(alt.X, "first", entry.column, domain=(0, entry.dim), form="d"),
            x2=alt.X2("end:Q"),
            tooltip=marks.tips(
                ("columns", f"{entry.column}s"), ("range", "range, mean", ".3~g"), ("sd", "standard deviation", ".3~g")
            ),
        )
        own = f"{entry.unit}, scale of {entry.title} alone" if len(set(highest)) > 1 else entry.unit
        y = marks.number(alt.Y, "range", own, domain=(0, top * 1.04))
        each = int((bars["end"] - bars["first"]).max())
        grouped = f"; {each} {entry.column}s a bar" if each > 1 else ""
        below = (*entry.lines, f"pale: range; full: standard deviation{grouped}")
        panels.append(
            marks.panel(
                base.mark_rect(color=colour, opacity=0.4).encode(y=y, y2=alt.datum(0)),
                base.mark_rect(color=colour).encode(y=marks.same_axis(y, "sd"), y2=alt.datum(0)),
                theme=theme, width=marks.THIRD, height=HEIGHT, title=entry.title, below=below,
            )
        )  # fmt: skip
    if len(cumulative):
        panels.append(_variance_panel(cumulative, shown, theme))
    return panels


def bars_of_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean range and deviation of neighbouring columns, at most `BARS` groups of one size; the last may be smaller.

    A sine and its cosine take turns and differ: a bar each would draw a comb that says nothing.
    """
    size = max(1, -(-len(rows) // BARS))
    grouped = rows.groupby(rows.column // size)
    bars = grouped.agg(first=("column", "min"), last=("column", "max"), range=("range", "mean"), sd=("sd", "mean"))
    return bars.assign(
        end=bars["last"] + 1,
        columns=[
            f"{first}" if first == last else f"{first} to {last}"
            for first, last in zip(bars["first"], bars["last"], strict=True)
        ],
    ).reset_index(drop=True)


NAMED_AT = 0.75
"""The share of variance at which the curves are named: there they are apart where few columns hold much."""


def _variance_panel(cumulative: pd.DataFrame, shown: Sequence[SizedEncoding], theme: Theme) -> Chart:
    x = marks.number(alt.X, "columns", "share of columns, most variable first", domain=(0, 1), form="%", ticks=5)
    y = marks.number(alt.Y, "variance", "share of variance", domain=(0, 1), form="%", ticks=5)
    lines = marks.line_plot(
        cumulative, theme=theme, color=title_colours(shown, theme, key=False), dots=0, x=x, y=y,
        tooltip=(("title", "encoding"), ("columns", "", ".1%"), ("variance", "", ".1%")),
    )  # fmt: skip
    most = marks.rule(theme, y=MOST, dash=marks.DASH)
    return marks.panel(
        most, *lines, *names_at(_curve_names(cumulative, hues_of(shown, theme)), x, y, theme),
        theme=theme, width=marks.THIRD, height=HEIGHT, title="How many columns hold the variance",
        below=[f"dashed: {percent(MOST)} of the variance"],
    )  # fmt: skip


def _curve_names(cumulative: pd.DataFrame, hues: dict[str, str]) -> pd.DataFrame:
    """The curves' names: right of and below the flatter one, left of the steeper one."""
    reached = cumulative[cumulative.variance >= NAMED_AT].groupby("title", sort=False).first().reset_index()
    flattest = int(reached["columns"].argmax())
    right = reached.index == flattest
    return reached.assign(
        name=reached.title, hue=reached.title.map(hues), align=np.where(right, "left", "right"),
        dx=np.where(right, 10, -10), dy=np.where(right, 14, 0),
    )  # fmt: skip
