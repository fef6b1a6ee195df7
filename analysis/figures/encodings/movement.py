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
BARS = 64
"""The most bars of a panel."""


@figure("encoding_movement", EncodingPairParameters)
def movement(params: EncodingPairParameters) -> Figure:
    """The movement of every column over the rows, and how few columns hold the variance (claim C02)."""
    shown = pair(params)
    movements = [measures.movement(entry.table()) for entry in shown]

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

    return Figure(
        title="How much each dimension moves",
        finding=_finding(shown, movements),
        frame=frame,
        caption=sentences(
            f"Those dimensions together hold {percent(1 - MOST)} of what varies between positions: in them, a word "
            "looks almost the same wherever it stands."
            if all(entry.encoding.enters == "added" for entry in shown)
            else f"Those that hardly vary hold {percent(1 - MOST)} of what varies together.",
            "Bars: the standard deviation (sd) of columns over the rows, as a multiple of the root mean square over "
            "all columns, so that encodings of any size are on one scale; at the right, the share of all variance that "
            "the most variable columns hold. The data also have the range, the largest minus the smallest value.",
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
        draw=lambda theme: _panels(frame(), shown, _cumulative_variance(shown, movements), theme),
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


def _finding(shown: Sequence[SizedEncoding], movements: Sequence[measures.Movement]) -> str:
    """The share of each encoding's columns that hardly vary from position to position."""
    still = [
        (entry, percent(1 - moved.columns_with(MOST) / entry.dim))
        for entry, moved in zip(shown, movements, strict=True)
        if moved.sd.any()
    ]
    said = [f"{share} of the {entry.column}s of {entry.title}" for entry, share in still]
    return f"{join_names(said)} hardly change with position" if said else ""


def _panels(frame: pd.DataFrame, shown: Sequence[SizedEncoding], cumulative: pd.DataFrame, theme: Theme) -> list[Chart]:
    """Movement by column, one panel an encoding; then the share of variance that the most variable columns hold."""
    bars = [bars_of_columns(frame[frame.encoding == entry.name]) for entry in shown]
    top = max(1.0, *(float(found.movement.max()) for found in bars))
    y = marks.number(alt.Y, "movement", "movement, average = 1", domain=(0, top * 1.04), ticks=5)
    panels = []
    for entry, found in zip(shown, bars, strict=True):
        if not found["range"].any():
            panels.append(empty_panel(entry, f"No {entry.column} moves.", theme=theme))
            continue
        each = int((found["end"] - found["first"]).max())
        columns = alt.Chart(found).mark_rect(color=hues_of(shown, theme)[entry.title], opacity=0.75).encode(
            x=marks.number(alt.X, "first", entry.column, domain=(0, entry.dim), form="d"),
            x2=alt.X2("end:Q"),
            y=y,
            y2=alt.datum(0),
            tooltip=marks.tips(
                ("columns", f"{entry.column}s"), ("movement", "times the average", ".2f"),
                ("sd", "standard deviation", ".3~g"), ("range", "range, mean", ".3~g"),
            ),
        )  # fmt: skip
        panels.append(
            marks.panel(
                columns, marks.rule(theme, y=1, dash=marks.DASH), theme=theme, width=marks.THIRD, height=HEIGHT,
                title=entry.title, below=[*entry.lines, *[f"{each} {entry.column}s a bar"] * (each > 1)],
            )
        )  # fmt: skip
    if len(cumulative):
        panels.append(_variance_panel(cumulative, shown, theme))
    return panels


def bars_of_columns(rows: pd.DataFrame) -> pd.DataFrame:
    """The mean range and deviation of neighbouring columns, at most `BARS` groups of one size; the last may be smaller.

    movement: the deviation as a multiple of the root mean square over all columns. A sine and its cosine take turns and
    differ: a bar each would draw a comb that says nothing.
    """
    size = max(1, -(-len(rows) // BARS))
    grouped = rows.groupby(rows.column // size)
    bars = grouped.agg(first=("column", "min"), last=("column", "max"), range=("range", "mean"), sd=("sd", "mean"))
    return bars.assign(
        end=bars["last"] + 1,
        movement=bars.sd / (float((rows.sd**2).mean()) ** 0.5 or 1.0),
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
