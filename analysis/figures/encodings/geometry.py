"""Figures of how an encoding's rows lie to each other: similarity against distance, and shifts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.core.errors import AddendError
from analysis.core.formatting import fixed, plural, sentences
from analysis.encodings import ENCODINGS, measures
from analysis.figures.encodings.data import PairParameters, Sized, export_command, keys, origins, pair, reach
from analysis.figures.encodings.measures import MEASURES, in_words
from analysis.figures.figure import Figure, figure

COMPARISONS = {"cosine": "Cosine", "dot": "Dot product"}
NUMBERS = ("translation_invariance", "monotonicity", "symmetry", "first_rise")
SHIFTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAIRS_SHOWN = 8
WHOLE_UP_TO = 32


class Likeness(NamedTuple):
    """How alike every two positions are, and what follows from it."""

    values: np.ndarray  # (query, key); NaN where undefined or not attended to
    kind: str  # cosine similarity, dot product, or score
    profile: measures.ByDistance
    numbers: dict[str, float]


def shifts(length: int) -> list[int]:
    """The shifts that leave enough pairs of positions to fit a map on and to hold out."""
    return [k for k in SHIFTS if k <= min(length // 2, length - 2 * measures.FOLDS)] or [1]


def likeness(one: Sized, compare: str) -> Likeness:
    """The requested comparison; the encoding's own score where it defines one."""
    if compare not in COMPARISONS:
        raise AddendError(f"The comparison {compare!r} is unknown; choose one of: {', '.join(COMPARISONS)}.")
    return _likeness(one.name, one.length, one.dim, compare)


@lru_cache(maxsize=8)
def _likeness(name: str, length: int, dim: int, compare: str) -> Likeness:
    encoding = ENCODINGS[name]
    if encoding.make_similarity is not None:
        kind, values = "score", encoding.similarity(length, dim)
    elif compare == "cosine":
        kind, values = "cosine similarity", measures.cosine(encoding.table(length, dim))
    else:
        kind, values = "dot product", encoding.similarity(length, dim)
    values.setflags(write=False)
    numbers = {
        "translation_invariance": measures.translation_invariance(values),
        "monotonicity": measures.monotonicity(values),
        "symmetry": measures.symmetry(values),
        "first_rise": measures.first_rise(values),
    }
    return Likeness(values, kind, measures.by_distance(values), numbers)


class CompareParameters(PairParameters):
    """By what rows are compared, of `COMPARISONS`."""

    compare: str


@dataclass(frozen=True)
class SimilarityContent:
    """reach: for each encoding shown, half the width of its colour scale."""

    shown: list[Sized]
    likeness: list[Likeness]
    reach: list[float]


@figure("encoding_similarity", CompareParameters)
def similarity(params: CompareParameters) -> Figure[SimilarityContent]:
    """Similarity against distance, and position by position."""
    shown = pair(params)
    likes = [likeness(one, params.compare) for one in shown]

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame({"encoding": one.name, "similarity": like.kind, **like.profile._asdict()})
            for one, like in zip(shown, likes, strict=True)
        ).reset_index(drop=True)

    return Figure(
        title="Similarity against distance",
        finding="; ".join(_turning(one, like) for one, like in zip(shown, likes, strict=True) if _turning(one, like)),
        frame=frame,
        caption=sentences(
            "Line: mean over all pairs of positions at that distance (key minus query); band: one standard deviation "
            "over those pairs, of which the farthest distance has only one. Map: every pair.",
            *(_compared(one, like) for one, like in zip(shown, likes, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_compared_alt(one, like) for one, like in zip(shown, likes, strict=True)),
        command=export_command("encoding_similarity", params, "compare"),
        provenance=origins(shown),
        citation_keys=keys(shown, "wang2021position"),
        content=SimilarityContent(
            shown=shown,
            likeness=likes,
            reach=[1.0 if like.kind.startswith("cosine") else reach(like.values)[0] for like in likes],
        ),
    )


def _compared(one: Sized, like: Likeness) -> str:
    if one.encoding.make_similarity is not None:
        own = "the score that position alone adds, of head 0" if "head" in one.encoding.options else "its own score"
        what = f"{one.title}: {own}"
    else:
        what = f"{one.title}: {like.kind} of the rows"
    hidden = int(np.isnan(like.values).sum())
    if hidden == like.values.size:
        return f"{what}, undefined: every row is zero."
    what += f", {int(like.profile.pairs.sum()):,} pairs"
    if hidden:
        what += "; blank where a key comes after the query and is not attended to"
    beyond = 0 if like.kind.startswith("cosine") else reach(like.values)[1]
    if beyond:
        what += f"; the colours end at ±{reach(like.values)[0]:.3g}, beyond which lie {beyond:,} pairs"
    return f"{what}."


def _compared_alt(one: Sized, like: Likeness) -> str:
    result = like.profile
    if not result.distance.size:
        return f"{one.title}: nothing to compare."
    at_zero = result.mean[result.distance == 0][0]
    low = int(result.mean.argmin())
    numbers = ", ".join(f"{MEASURES[name].title.lower()} {in_words(name, like.numbers[name])}" for name in NUMBERS)
    return (
        f"{one.title}: mean {like.kind} {at_zero:.3g} at distance 0, lowest, {result.mean[low]:.3g}, at distance "
        f"{result.distance[low]}; {numbers}."
    )


class Shifted(NamedTuple):
    """What a shift by k does: the matrix and its residual, or how well the best map foretells, or why neither."""

    matrix: np.ndarray | None = None
    residual: float = np.nan
    r2: float = np.nan
    why: str = ""


def shifted(one: Sized, k: int) -> Shifted:
    """The closed form where there is one, else the best linear map, else the reason why not."""
    return _shifted(one.name, one.length, one.dim, k)


@lru_cache(maxsize=16)
def _shifted(name: str, length: int, dim: int, k: int) -> Shifted:
    encoding = ENCODINGS[name]
    if encoding.rows == "distance":
        return Shifted(why="its rows are distances; no shift of both positions changes them.")
    if encoding.make_shift is not None:
        residual = measures.shift_residual(encoding, length=length, dim=dim, k=k)
        return Shifted(matrix=encoding.shift(k, dim), residual=residual)
    r2 = measures.shift_r2(encoding.table(length, dim), k=k)
    if np.isnan(r2):
        return Shifted(why="every row is the same; a shift changes nothing.")
    return Shifted(r2=r2)


def related(matrix: np.ndarray) -> np.ndarray:
    """The dimensions to show of a large shift matrix: evenly spaced ones, each with those it mixes with."""
    if len(matrix) <= WHOLE_UP_TO:
        return np.arange(len(matrix))
    # With i go all the dimensions that its row takes from: its own pair, whatever the column order.
    groups = {tuple(np.flatnonzero(row)) for row in matrix} - {()}
    whole = sorted(group for group in groups if len(group) == max(map(len, groups)))
    picked = np.linspace(0, len(whole) - 1, min(PAIRS_SHOWN, len(whole))).round().astype(int)
    return np.unique(np.concatenate([whole[place] for place in picked]))


class ShiftParameters(PairParameters):
    """By how many positions encodings are shifted."""

    shift: int


@dataclass(frozen=True)
class ShiftContent:
    """found: what a shift by k does to each encoding shown."""

    shown: list[Sized]
    found: list[Shifted]
    k: int


@figure("encoding_shift", ShiftParameters)
def shift(params: ShiftParameters) -> Figure[ShiftContent]:
    """What turns the row of a position into that of the position k further on (claim C03)."""
    shown, k = pair(params), params.shift
    items = [shifted(one, k) for one in shown]

    def frame() -> pd.DataFrame:
        parts = []
        for one, result in zip(shown, items, strict=True):
            about = {"encoding": one.name, "k": k, "residual": result.residual, "held_out_r2": result.r2}
            if result.matrix is None:
                parts.append(pd.DataFrame([about]))
            else:
                row, column = np.nonzero(result.matrix)
                parts.append(pd.DataFrame({**about, "row": row, "column": column, "value": result.matrix[row, column]}))
        return pd.concat(parts, ignore_index=True).reindex(
            columns=["encoding", "k", "residual", "held_out_r2", "row", "column", "value"]
        )

    return Figure(
        title=f"From a position to the one {k} further on",
        finding="; ".join(_linear(one, result, k) for one, result in zip(shown, items, strict=True)),
        frame=frame,
        caption=sentences(*(_moved_on(one, result, k) for one, result in zip(shown, items, strict=True))),
        alt=" ".join(_moved_on(one, result, k) for one, result in zip(shown, items, strict=True)),
        command=export_command("encoding_shift", params, "shift"),
        provenance=origins(shown),
        citation_keys=keys(shown),
        content=ShiftContent(shown=shown, found=items, k=k),
    )


def _linear(one: Sized, result: Shifted, k: int) -> str:
    """Whether a shift by k is one matrix, in a few words."""
    if result.why:
        return f"{one.title}: {result.why.split(';')[0].removesuffix('.')}"
    if result.matrix is None:
        return f"{one.title}: the best single matrix predicts a shift by {k} with R² {fixed(result.r2)}"
    return f"{one.title}: one matrix shifts every position by {k}, to within {result.residual:.0e}"


def _moved_on(one: Sized, result: Shifted, k: int) -> str:
    if result.why:
        return f"{one.title}: {result.why}"
    if result.matrix is None:
        return (
            f"{one.title}: no closed form. The best single linear map, fitted on four fifths of the {one.length - k} "
            "pairs of positions and tested on the rest, five times in turn, predicts the rows with R² "
            f"{result.r2:.3f}: 1 would be a linear shift, 0 is no better than the mean row. Ridge regression without "
            "intercept."
        )
    count = len(related(result.matrix))
    part = f"{count} of its {one.dim} dimensions are drawn; the data hold every entry that is not zero." * (
        count < one.dim
    )
    return sentences(
        f"{one.title}: one matrix for every position, a rotation of each pair of dimensions; the largest difference "
        f"|M row(pos) − row(pos + {k})| over {one.length - k} positions is {result.residual:.0e}.",
        part,
    )


def _turning(one: Sized, like: Likeness) -> str:
    """How far similarity falls with distance before it rises again."""
    first = like.numbers["first_rise"]
    if np.isnan(first):
        return ""
    if np.isinf(first):
        return f"{one.title}: similarity never rises with distance"
    return f"{one.title}: similarity first rises again {plural(int(first), 'token')} away"
