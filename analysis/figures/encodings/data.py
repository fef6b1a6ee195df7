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
class Sized:
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
        """What to print under its name: its size, where that is not the size asked for."""
        return [self.size] if self.adapted else []

    @property
    def row(self) -> str:
        """What one row of the table represents."""
        return "position" if self.encoding.rows == "position" else "distance (tokens)"

    @property
    def column(self) -> str:
        """What one column of the table represents."""
        return "head" if self.encoding.columns == "heads" else "dimension"

    @property
    def unit(self) -> str:
        """What one value of the table is."""
        return "score bias" if self.encoding.columns == "heads" else "value"

    @property
    def size(self) -> str:
        """Rows and columns in words."""
        return f"{self.length} {self.encoding.rows}s × {self.dim} {self.column}s"

    def table(self) -> np.ndarray:
        """The table, shared: not to be written to."""
        return _table(self.name, self.length, self.dim)


@lru_cache(maxsize=64)
def sized(name: str, length: int, dim: int) -> Sized:
    """An encoding at the size nearest to the one asked for."""
    encoding = ENCODINGS[name]
    result = Sized(encoding, *encoding.nearest(length, dim))
    if (result.length, result.dim) == (length, dim):
        return result
    if result.column == "head":
        why = f"{result.title} has one column for each head, not for each dimension; {result.dim} heads are shown."
        return Sized(encoding, result.length, result.dim, why)
    why = (
        f"{result.title} is not available at {length} positions × {dim} dimensions; the nearest size, {result.size}, "
        "is shown."
    )
    return Sized(encoding, result.length, result.dim, why)


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
    """reach: for each encoding shown, half the width of its colour scale."""

    shown: list[Sized]
    reach: list[float]


def pair(params: PairParameters) -> list[Sized]:
    """The encodings to show: the chosen one and, unless it is the same or "", the one it is compared with."""
    names = dict.fromkeys((params.encoding, params.other))
    return [sized(name, params.length, params.dim) for name in names if name]


def reach(values: np.ndarray) -> tuple[float, int]:
    """Half the width of a symmetric colour scale, and how many values lie beyond it.

    The largest magnitude, unless a few outliers would wash the map out: then the 99th percentile.
    """
    size = np.abs(values[~np.isnan(values)])
    if not size.size or not size.max():
        return 1.0, 0
    usual = float(np.quantile(size, CLIP_QUANTILE))
    chosen = usual if 0 < usual * CLIP_FROM < size.max() else float(size.max())
    return chosen, int((size > chosen).sum())


def export_command(name: str, params: PairParameters, *more: str) -> str:
    """The command that makes one of these figures' numbers anew, with the fields that it rests on."""
    link = urlencode(params.values("encoding", "other", "length", "dim", *more))
    return f"python -m analysis export '/encodings?{link}' --figure {name} -o {name}.csv"


def keys(shown: list[Sized], *more: str) -> tuple[str, ...]:
    """Citation keys of the encodings' papers, and of other works, each once."""
    return tuple(dict.fromkeys(key for key in (*(one.encoding.key for one in shown), *more) if key))


def origins(shown: list[Sized]) -> dict[str, str]:
    """Where each encoding's values come from."""
    return {one.title: one.encoding.note for one in shown}


@figure("encoding_heat", PairParameters)
def heat(params: PairParameters) -> Figure[HeatContent]:
    """Each encoding's table: rows are positions (or distances), columns dimensions (or heads)."""
    shown = pair(params)
    scales = [reach(one.table()) for one in shown]

    def frame() -> pd.DataFrame:
        parts = [
            frames.cells(one.table(), "value", row=None, column=None).assign(encoding=one.name, rows=one.encoding.rows)
            for one in shown
        ]
        return pd.concat(parts, ignore_index=True)[["encoding", "rows", "row", "column", "value"]]

    return Figure(
        title="The table itself",
        finding="; ".join(_between(one) for one in shown),
        frame=frame,
        caption=sentences(
            "; ".join(f"{one.title}: {one.size}, columns are {one.encoding.columns}" for one in shown) + ".",
            "Each map has its own colour scale, symmetric about zero.",
            *(_clipping(one, *scale) for one, scale in zip(shown, scales, strict=True)),
        ),
        alt=" ".join(_extremes(one) for one in shown),
        command="\n".join(
            f"python -m analysis encode {one.name} --length {one.length} --dim {one.dim} --csv" for one in shown
        ),
        provenance=origins(shown),
        citation_keys=keys(shown),
        content=HeatContent(shown=shown, reach=[scale for scale, _ in scales]),
    )


def _clipping(one: Sized, scale: float, beyond: int) -> str:
    if not beyond:
        return ""
    table = one.table()
    rows, counts = np.unique(np.nonzero(np.abs(table) > scale)[0], return_counts=True)
    most = int(rows[counts.argmax()])
    return (
        f"The scale of {one.title} ends at ±{scale:.3g}, its 99th percentile, so that outliers do not wash the map "
        f"out: {beyond:,} of {table.size:,} cells lie beyond, {counts.max():,} of them in row {most}; the largest is "
        f"{np.abs(table).max():.3g}."
    )


def _between(one: Sized) -> str:
    """How far the largest value stands out from the usual ones, where they are not the same."""
    low, high = float(one.table().min()), float(one.table().max())
    if low == high:
        return f"{one.title}: every value is {significant(low)}"
    usual = float(np.nanmedian(np.abs(one.table())))
    return f"{one.title}: half of the values lie within ±{significant(usual)}, the largest is {_largest(one)}"


def _largest(one: Sized) -> str:
    """The value of the greatest size."""
    table = one.table()
    return significant(float(table.flat[int(np.nanargmax(np.abs(table)))]))


def colours_end(one: Sized, scale: float) -> list[str]:
    """A line that says where the colours of an encoding's map end, where some values lie beyond."""
    beyond = float(np.nanmax(np.abs(one.table()))) > scale
    return [f"colours end at ±{significant(scale)}; the largest value is {_largest(one)}"] if beyond else []


def _extremes(one: Sized) -> str:
    table = one.table()
    low, high = (np.unravel_index(place, table.shape) for place in (table.argmin(), table.argmax()))
    if table[low] == table[high]:
        return f"Heat map of {one.title}, {one.size}: every value is {table[low]:.3g}."
    return (
        f"Heat map of {one.title}, {one.size}: values from {table[low]:.3g} (row {low[0]}, column {low[1]}) "
        f"to {table[high]:.3g} (row {high[0]}, column {high[1]})."
    )
