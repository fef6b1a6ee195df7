"""Each encoding's table: rows are positions or distances, columns dimensions or heads."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import capitalised, join_names, percent, sentences, significant
from analysis.encodings import measures
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.encodings.sized import (
    EncodingPairParameters,
    SizedEncoding,
    citation_keys,
    colour_limit,
    origins,
    pair,
)
from analysis.figures.figure import Figure, figure
from analysis.figures.heatmap import heatmap, index_axes, painted, picture

MAP_HEIGHT = 380
"""Pixels of a map with its legend and title."""


@figure("encoding_heat", EncodingPairParameters)
def heat(params: EncodingPairParameters) -> Figure:
    """Each encoding's table: rows are positions (or distances), columns dimensions (or heads)."""
    shown = pair(params)
    scales = [colour_limit(entry.table()) for entry in shown]

    def frame() -> pd.DataFrame:
        parts = [
            frames.cells(entry.table(), "value", row=None, column=None).assign(
                encoding=entry.name, rows=entry.encoding.rows
            )
            for entry in shown
        ]
        return pd.concat(parts, ignore_index=True)[["encoding", "rows", "row", "column", "value"]]

    return Figure(
        title="The table itself",
        finding=_finding(shown),
        frame=frame,
        caption=sentences(
            "Each map has its own colour scale, symmetric about zero.",
            "; ".join(f"{entry.title}: {_columns_in_words(entry)}" for entry in shown) + ".",
            _large(shown),
            *(_clipping(entry, *scale) for entry, scale in zip(shown, scales, strict=True)),
        ),
        alt=" ".join(_extremes(entry) for entry in shown),
        command="\n".join(
            f"python -m analysis encode {entry.name} --length {entry.length} --dim {entry.dim} --csv" for entry in shown
        ),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        draw=lambda theme: [
            table_map(entry, limit, theme, marks.HALF, MAP_HEIGHT)
            for entry, (limit, _) in zip(shown, scales, strict=True)
        ],
        columns=2,
    )


def _large(shown: Sequence[SizedEncoding]) -> str:
    """A sentence on the triangles, where a map has any."""
    if not any(large_rows(entry) for entry in shown):
        return ""
    return f"Triangle: a row of which at least {percent(LARGE)} of the values lie beyond the end of the colours."


def table_map(
    entry: SizedEncoding, limit: float, theme: Theme, side: int, height: int, *, legend: bool = True
) -> Chart:
    """An encoding's table on a symmetric scale, without the columns that only repeat others a quarter of a turn on.

    legend: whether a legend and the title stand at it; without them it is a picture alone, without seams between cells.
    A sine and its cosine side by side would draw stripes that are not in the data, where columns are narrow.
    """
    columns, words = shown_columns(entry)
    indices = np.arange(entry.dim)[columns]
    if not legend:
        values = entry.table()[:, columns]
        x, y = index_axes(values.shape, entry.row, words)
        drawn = picture(painted(values, theme.diverging, (-limit, limit)), values.shape, x, y)
        return _columns_counted(drawn.properties(width=side, height=height), entry)
    large = large_rows(entry)
    drawn = heatmap(
        entry.table()[:, columns], columns=[str(index) for index in indices], domain=(-limit, limit),
        row_title=entry.row, column_title=words, value_title=entry.unit, title=entry.source,
        below=[*entry.lines, *clip_note(entry, limit)], side=side, height=height, theme=theme, legend_above=True,
    )  # fmt: skip
    if not isinstance(drawn, alt.LayerChart):
        return drawn
    _columns_counted(drawn.layer[0], entry)
    pointers = alt.Chart(pd.DataFrame({"y": large})).mark_point(
        shape="triangle-right", filled=True, opacity=1, size=marks.DOT, color=theme.ink, xOffset=-6
    )
    drawn.layer.append(pointers.encode(x=alt.value(0), y=drawn.layer[0].encoding.y))
    return drawn


def _columns_counted(drawn: Chart, entry: SizedEncoding) -> Chart:
    """The chart, with the dimensions at its ticks where every second one is drawn."""
    columns, _ = shown_columns(entry)
    if isinstance(columns, slice) and columns.step:
        drawn.encoding.x["axis"]["labelExpr"] = f"datum.value * {columns.step}"
        if entry.dim >= MANY_COLUMNS:
            ticks = range(0, entry.dim, TICK * -(-entry.dim // (2 * MANY_COLUMNS)))
            drawn.encoding.x["axis"]["values"] = [dimension // columns.step for dimension in ticks]
    return drawn


MANY_COLUMNS, TICK = 200, 50
"""The dimensions from which an axis has ticks of its own, and those between two of them: as beside a whole table."""
LARGE = 0.05
"""The share of a row's values that lie beyond the end of the colours from which the row is called large."""


def large_rows(entry: SizedEncoding) -> list[int]:
    """The rows of which many values lie beyond the end of the colours; none where nothing does."""
    table = np.abs(entry.table())
    limit, _ = colour_limit(table)
    return [int(row) for row in np.flatnonzero((table > limit).mean(axis=1) >= LARGE)]


def shown_columns(entry: SizedEncoding) -> tuple[slice | np.ndarray, str]:
    """The columns of the table that are drawn, and the title of their axis.

    Columns that are in no order stand by how fast they vary, as those of sinusoids do: else a map would hide what
    varies slowly.
    """
    if "in no order" in entry.encoding.columns:
        return from_the_fastest(entry.table()), f"{entry.column}s, from the fastest to the slowest"
    if "in turn" in entry.encoding.columns:
        return slice(0, None, 2), "dimensions (sines alone), from the fastest to the slowest"
    if "then their cosines" in entry.encoding.columns:
        return slice(0, entry.dim // 2), "dimensions (sines alone), from the fastest to the slowest"
    if "then their sines" in entry.encoding.columns:
        return slice(0, entry.dim // 2), "dimensions (cosines alone), in their own order"
    return slice(None), entry.column


def from_the_fastest(table: np.ndarray) -> np.ndarray:
    """The columns by the mean frequency of their spectrum, the highest first; outliers count as they are coloured."""
    limit, _ = colour_limit(table)
    spectrum = measures.spectrum(np.clip(table, -limit, limit))
    means = np.nan_to_num(np.asarray(spectrum.frequency) @ np.asarray(spectrum.power))
    return np.argsort(-means, kind="stable")


def _columns_in_words(entry: SizedEncoding) -> str:
    """The size of a table and the meaning of its columns, with those that are drawn where not all are."""
    every = f"{entry.size}, columns are {entry.encoding.columns}"
    columns, words = shown_columns(entry)
    if isinstance(columns, np.ndarray):
        return f"{every.removesuffix(', in no order')}, which have no order; those that vary fastest are drawn first"
    if columns == slice(None):
        return every
    kind = "sines" if "sines" in words else "cosines"
    return f"{every}; the {kind} alone are drawn, and the data hold both"


def _clipping(entry: SizedEncoding, scale: float, beyond: int) -> str:
    if not beyond:
        return ""
    table = entry.table()
    rows, counts = np.unique(np.nonzero(np.abs(table) > scale)[0], return_counts=True)
    row = int(rows[counts.argmax()])
    return (
        f"The scale of {entry.title} ends at ±{scale:.3g}, its 99th percentile, so that outliers do not wash the map "
        f"out: {beyond:,} of {table.size:,} cells lie beyond, {counts.max():,} of them in row {row}; the largest is "
        f"{np.abs(table).max():.3g}."
    )


def _finding(shown: Sequence[SizedEncoding]) -> str:
    """A clause on each table: its large rows, or how far its largest value is from the median of the sizes."""
    return capitalised(
        "; ".join(f"in {entry.title}, {_stands_out(entry)}{_beside_the_drawn(entry)}" for entry in shown)
    )


def _beside_the_drawn(entry: SizedEncoding) -> str:
    """Words for a table of which the map draws the sines alone, or the cosines: the finding is about both."""
    columns, _ = shown_columns(entry)
    return "" if isinstance(columns, np.ndarray) or columns == slice(None) else " (sines and cosines together)"


def _stands_out(entry: SizedEncoding) -> str:
    """The rows of a table that stand out; or how much larger than the median of the sizes its largest value is."""
    table = np.abs(entry.table())
    if table.min() == table.max():
        return f"every value is {_largest(entry)}"
    median = float(np.nanmedian(table))
    if not median:
        return f"half of the values are 0, the largest is {_largest(entry)}"
    times = float(np.nanmax(table)) / median
    ratio = f"{f'{times:,.0f}' if times >= MANY else f'{times:.1f}'} times the median"
    rows = large_rows(entry)
    if not rows:
        return f"no value exceeds {ratio}"
    word = entry.encoding.rows
    named = f"{word} {rows[0]} stands" if len(rows) == 1 else f"{word}s {join_names(map(str, rows))} stand"
    return f"{named if len(rows) <= NAMED else f'{len(rows)} {word}s stand'} out, with values up to {ratio}"


MANY, NAMED = 10, 4
"""The ratio from which it is said without decimals, and the most rows that a finding names."""


def _largest_value(entry: SizedEncoding) -> float:
    table = entry.table()
    return float(table.flat[int(np.nanargmax(np.abs(table)))])


def _largest(entry: SizedEncoding) -> str:
    """The value of the greatest size, in words."""
    return significant(_largest_value(entry))


def clip_note(entry: SizedEncoding, scale: float) -> list[str]:
    """A line that says where the colours of an encoding's map end."""
    beyond = float(np.nanmax(np.abs(entry.table()))) > scale
    largest = f"the largest value is {_largest(entry)}"
    if large_rows(entry):
        largest = f"rows at a triangle go beyond, to {_largest(entry)}"
    return [f"colours end at ±{significant(scale)}{f'; {largest}' if beyond else ', which no value exceeds'}"]


def _extremes(entry: SizedEncoding) -> str:
    table = entry.table()
    low, high = (np.unravel_index(index, table.shape) for index in (table.argmin(), table.argmax()))
    if table[low] == table[high]:
        return f"Heat map of {entry.title}, {entry.size}: every value is {table[low]:.3g}."
    return (
        f"Heat map of {entry.title}, {entry.size}: values from {table[low]:.3g} (row {low[0]}, column {low[1]}) "
        f"to {table[high]:.3g} (row {high[0]}, column {high[1]})."
    )
