"""Figures of position encodings: computed here and now, in numpy. This file: what they share, and the table itself."""

from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlencode

import numpy as np
import pandas as pd

from analysis.core import frames
from analysis.core.formatting import sentences, significant
from analysis.encodings import ENCODINGS, Encoding
from analysis.figures.figure import Figure, Parameters, figure

CLIP_QUANTILE = 0.99
CLIP_FROM = 2.0  # a scale is cut only where the largest value is more than this many times that quantile


@dataclass(frozen=True)
class SizedEncoding:
    """An encoding at a size that it takes, and in one sentence why that is not the size asked for."""

    encoding: Encoding
    length: int
    dim: int
    adapted: str = ""

    @property
    def name(self) -> str:
        """Its id."""
        return self.encoding.name

    @property
    def title(self) -> str:
        """Its name on screen."""
        return self.encoding.title

    @property
    def lines(self) -> list[str]:
        """Lines to print under its name: its size, if that differs from the size that was asked for."""
        return [self.size] if self.adapted else []

    @property
    def row(self) -> str:
        """The unit of the table's rows: a position, or a distance in tokens."""
        return "position" if self.encoding.rows == "position" else "distance (tokens)"

    @property
    def column(self) -> str:
        """The unit of the table's columns: a head or a dimension."""
        return "head" if self.encoding.columns == "heads" else "dimension"

    @property
    def unit(self) -> str:
        """The name of the table's values: score biases, or plain values."""
        return "score bias" if self.encoding.columns == "heads" else "value"

    @property
    def size(self) -> str:
        """Rows and columns in words."""
        return f"{self.length} {self.encoding.rows}s × {self.dim} {self.column}s"

    def table(self) -> np.ndarray:
        """The table, shared: not to be written to."""
        return _table(self.name, self.length, self.dim)


@lru_cache(maxsize=64)
def sized(name: str, length: int, dim: int) -> SizedEncoding:
    """An encoding at the size nearest to the one asked for."""
    encoding = ENCODINGS[name]
    result = SizedEncoding(encoding, *encoding.nearest(length, dim))
    if (result.length, result.dim) == (length, dim):
        return result
    if result.column == "head":
        reason = f"{result.title} has one column for each head, not for each dimension; {result.dim} heads are shown."
        return SizedEncoding(encoding, result.length, result.dim, reason)
    reason = (
        f"{result.title} is not available at {length} positions × {dim} dimensions; the nearest size, {result.size}, "
        "is shown."
    )
    return SizedEncoding(encoding, result.length, result.dim, reason)


@lru_cache(maxsize=8)
def _table(name: str, length: int, dim: int) -> np.ndarray:
    table = ENCODINGS[name].table(length, dim)
    table.setflags(write=False)
    return table


class PairParameters(Parameters):
    """An encoding, the one that it is compared with (empty for none), and the size of both."""

    encoding: str
    other: str
    length: int
    dim: int


@dataclass(frozen=True)
class HeatContent:
    """limits: for each encoding shown, half the width of its colour scale."""

    shown: list[SizedEncoding]
    limits: list[float]


def pair(params: PairParameters) -> list[SizedEncoding]:
    """The encodings to show: the chosen one and, unless it is the same or "", the one it is compared with."""
    names = dict.fromkeys((params.encoding, params.other))
    return [sized(name, params.length, params.dim) for name in names if name]


def colour_limit(values: np.ndarray) -> tuple[float, int]:
    """Half the width of a symmetric colour scale, and how many values lie beyond it.

    The largest magnitude, unless a few outliers would wash the map out: then the 99th percentile.
    """
    magnitudes = np.abs(values[~np.isnan(values)])
    if not magnitudes.size or not magnitudes.max():
        return 1.0, 0
    quantile = float(np.quantile(magnitudes, CLIP_QUANTILE))
    limit = quantile if 0 < quantile * CLIP_FROM < magnitudes.max() else float(magnitudes.max())
    return limit, int((magnitudes > limit).sum())


def export_command(name: str, params: PairParameters, *more: str) -> str:
    """The command that makes one of these figures' numbers anew, with the fields that it rests on."""
    link = urlencode(params.values("encoding", "other", "length", "dim", *more))
    return f"python -m analysis export '/encodings?{link}' --figure {name} -o {name}.csv"


def citation_keys(shown: list[SizedEncoding], *more: str) -> tuple[str, ...]:
    """Citation keys of the encodings' papers, and of other works, each once."""
    return tuple(dict.fromkeys(key for key in (*(entry.encoding.key for entry in shown), *more) if key))


def origins(shown: list[SizedEncoding]) -> dict[str, str]:
    """The source of each encoding's values, by the encoding's title."""
    return {entry.title: entry.encoding.note for entry in shown}


@figure("encoding_heat", PairParameters)
def heat(params: PairParameters) -> Figure[HeatContent]:
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
        finding="; ".join(_value_range(entry) for entry in shown),
        frame=frame,
        caption=sentences(
            "; ".join(f"{entry.title}: {entry.size}, columns are {entry.encoding.columns}" for entry in shown) + ".",
            "Each map has its own colour scale, symmetric about zero.",
            *(_clipping(entry, *scale) for entry, scale in zip(shown, scales, strict=True)),
        ),
        alt=" ".join(_extremes(entry) for entry in shown),
        command="\n".join(
            f"python -m analysis encode {entry.name} --length {entry.length} --dim {entry.dim} --csv" for entry in shown
        ),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        content=HeatContent(shown=shown, limits=[scale for scale, _ in scales]),
    )


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


def _value_range(entry: SizedEncoding) -> str:
    """A sentence that compares the largest value with the usual ones, or says that all values are the same."""
    low, high = float(entry.table().min()), float(entry.table().max())
    if low == high:
        return f"{entry.title}: every value is {significant(low)}"
    median = float(np.nanmedian(np.abs(entry.table())))
    return f"{entry.title}: half of the values lie within ±{significant(median)}, the largest is {_largest(entry)}"


def _largest(entry: SizedEncoding) -> str:
    """The value of the greatest size."""
    table = entry.table()
    return significant(float(table.flat[int(np.nanargmax(np.abs(table)))]))


def clip_note(entry: SizedEncoding, scale: float) -> list[str]:
    """A line that says where the colours of an encoding's map end, where some values lie beyond."""
    beyond = float(np.nanmax(np.abs(entry.table()))) > scale
    return [f"colours end at ±{significant(scale)}; the largest value is {_largest(entry)}"] if beyond else []


def _extremes(entry: SizedEncoding) -> str:
    table = entry.table()
    low, high = (np.unravel_index(index, table.shape) for index in (table.argmin(), table.argmax()))
    if table[low] == table[high]:
        return f"Heat map of {entry.title}, {entry.size}: every value is {table[low]:.3g}."
    return (
        f"Heat map of {entry.title}, {entry.size}: values from {table[low]:.3g} (row {low[0]}, column {low[1]}) "
        f"to {table[high]:.3g} (row {high[0]}, column {high[1]})."
    )
