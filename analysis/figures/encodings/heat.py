"""Each encoding's table: rows are positions or distances, columns dimensions or heads."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import capitalised, join_names, sentences, significant
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
            "; ".join(f"{entry.title}: {_columns_in_words(entry)}" for entry in shown) + ".",
            "Each map has its own colour scale, symmetric about zero. The usual value is the median of the sizes.",
            *(_clipping(entry, *scale) for entry, scale in zip(shown, scales, strict=True)),
        ),
        alt=" ".join(_extremes(entry) for entry in shown),
        command="\n".join(
            f"python -m analysis encode {entry.name} --length {entry.length} --dim {entry.dim} --csv" for entry in shown
        ),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        draw=lambda theme: [
            table_map(entry, limit, theme, marks.HALF, 300) for entry, (limit, _) in zip(shown, scales, strict=True)
        ],
        columns=2,
    )


def table_map(
    entry: SizedEncoding, limit: float, theme: Theme, side: int, height: int, *, legend: bool = True
) -> Chart:
    """An encoding's table on a symmetric scale, without the columns that only repeat others a quarter of a turn on.

    legend: whether a legend and the title stand at it; without them it is a picture alone, without seams between cells.
    A sine and its cosine side by side would draw stripes that are not in the data, where columns are narrow.
    """
    columns, words = shown_columns(entry)
    names = None if isinstance(columns, slice) else [str(column) for column in columns]
    if not legend:
        values = entry.table()[:, columns]
        x, y = index_axes(values.shape, entry.row, words)
        drawn = picture(painted(values, theme.diverging, (-limit, limit)), values.shape, x, y)
        return drawn.properties(width=side, height=height)
    return heatmap(
        entry.table()[:, columns], columns=names, domain=(-limit, limit), row_title=entry.row, column_title=words,
        value_title=entry.unit, title=entry.title, below=[*entry.lines, *clip_note(entry, limit)], side=side,
        height=height, theme=theme, legend=legend,
    )  # fmt: skip


def shown_columns(entry: SizedEncoding) -> tuple[slice | np.ndarray, str]:
    """The columns of the table that are drawn, and the title of their axis.

    Columns that are in no order stand by how fast they vary, as those of sinusoids do: else a map would hide what
    varies slowly.
    """
    if "in no order" in entry.encoding.columns:
        return from_the_fastest(entry.table()), f"{entry.column}s from the fastest to the slowest"
    if "in turn" in entry.encoding.columns:
        return slice(0, None, 2), "pair of dimensions; sines alone are drawn"
    if "then their cosines" in entry.encoding.columns:
        return slice(0, entry.dim // 2), "pair of dimensions; sines alone are drawn"
    if "then their sines" in entry.encoding.columns:
        return slice(0, entry.dim // 2), "pair of dimensions; cosines alone are drawn"
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
        return f"{every}, and stand here from the fastest to the slowest"
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
    """A sentence that compares the largest value of each table with the usual one."""
    flat = [entry for entry in shown if entry.table().min() == entry.table().max()]
    parts = [_times_the_usual(entry) for entry in shown if entry not in flat]
    same = [f"in {entry.title} every value is {_largest(entry)}" for entry in flat]
    largest = [f"the largest value is {join_names(parts)}"] if parts else []
    return capitalised("; ".join([*largest, *same]))


def _times_the_usual(entry: SizedEncoding) -> str:
    """The largest value as a multiple of the median of the sizes; as it is, where half of the values are zero."""
    median = float(np.nanmedian(np.abs(entry.table())))
    if not median:
        return f"{_largest(entry)} in {entry.title}, half of whose values are 0"
    times = abs(_largest_value(entry)) / median
    return f"{f'{times:,.0f}' if times >= 10 else f'{times:.1f}'} times the usual one in {entry.title}"


def _largest_value(entry: SizedEncoding) -> float:
    table = entry.table()
    return float(table.flat[int(np.nanargmax(np.abs(table)))])


def _largest(entry: SizedEncoding) -> str:
    """The value of the greatest size, in words."""
    return significant(_largest_value(entry))


def clip_note(entry: SizedEncoding, scale: float) -> list[str]:
    """A line that says where the colours of an encoding's map end."""
    beyond = float(np.nanmax(np.abs(entry.table()))) > scale
    largest = f"; the largest value is {_largest(entry)}" if beyond else ", which no value exceeds"
    return [f"colours end at ±{significant(scale)}{largest}"]


def _extremes(entry: SizedEncoding) -> str:
    table = entry.table()
    low, high = (np.unravel_index(index, table.shape) for index in (table.argmin(), table.argmax()))
    if table[low] == table[high]:
        return f"Heat map of {entry.title}, {entry.size}: every value is {table[low]:.3g}."
    return (
        f"Heat map of {entry.title}, {entry.size}: values from {table[low]:.3g} (row {low[0]}, column {low[1]}) "
        f"to {table[high]:.3g} (row {high[0]}, column {high[1]})."
    )
