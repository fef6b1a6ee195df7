"""Figures of how an encoding's rows lie to each other: similarity against distance, and shifts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd

from analysis.core.errors import AddendError
from analysis.core.formatting import fixed, plural, sentences
from analysis.encodings import ENCODINGS, measures
from analysis.figures.encodings.data import (
    PairParameters,
    SizedEncoding,
    citation_keys,
    colour_limit,
    export_command,
    origins,
    pair,
)
from analysis.figures.encodings.measures import MEASURES, in_words
from analysis.figures.figure import Figure, figure

COMPARISONS = {"cosine": "Cosine", "dot": "Dot product"}
NUMBERS = ("translation_invariance", "monotonicity", "symmetry", "first_rise")
SHIFTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
PAIRS_SHOWN = 8
MAX_FULL_SIZE = 32


class Comparison(NamedTuple):
    """The similarity of every two positions, and the numbers computed from it."""

    values: np.ndarray  # (query, key); NaN where undefined or not attended to
    kind: str  # cosine similarity, dot product, or score
    profile: measures.ByDistance
    numbers: dict[str, float]


def shifts(length: int) -> list[int]:
    """The shifts that leave enough pairs of positions to fit a map on and to hold out."""
    return [k for k in SHIFTS if k <= min(length // 2, length - 2 * measures.FOLDS)] or [1]


def compare_rows(entry: SizedEncoding, compare: str) -> Comparison:
    """The requested comparison; the encoding's own score where it defines one."""
    if compare not in COMPARISONS:
        raise AddendError(f"The comparison {compare!r} is unknown; choose one of: {', '.join(COMPARISONS)}.")
    return _compare_rows(entry.name, entry.length, entry.dim, compare)


@lru_cache(maxsize=8)
def _compare_rows(name: str, length: int, dim: int, compare: str) -> Comparison:
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
    return Comparison(values, kind, measures.by_distance(values), numbers)


class CompareParameters(PairParameters):
    """The measure that rows are compared by: a key of `COMPARISONS`."""

    compare: str


@dataclass(frozen=True)
class SimilarityContent:
    """limits: for each encoding shown, half the width of its colour scale."""

    shown: list[SizedEncoding]
    comparisons: list[Comparison]
    limits: list[float]


@figure("encoding_similarity", CompareParameters)
def similarity(params: CompareParameters) -> Figure[SimilarityContent]:
    """Similarity against distance, and position by position."""
    shown = pair(params)
    comparisons = [compare_rows(entry, params.compare) for entry in shown]

    def frame() -> pd.DataFrame:
        return pd.concat(
            pd.DataFrame({"encoding": entry.name, "similarity": comparison.kind, **comparison.profile._asdict()})
            for entry, comparison in zip(shown, comparisons, strict=True)
        ).reset_index(drop=True)

    return Figure(
        title="Similarity against distance",
        finding="; ".join(
            _first_rise(entry, comparison)
            for entry, comparison in zip(shown, comparisons, strict=True)
            if _first_rise(entry, comparison)
        ),
        frame=frame,
        caption=sentences(
            "Line: mean over all pairs of positions at that distance (key minus query); band: one standard deviation "
            "over those pairs, of which the farthest distance has only one. Map: every pair.",
            *(_comparison_sentence(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
            "Exact: nothing is sampled.",
        ),
        alt=" ".join(_comparison_alt(entry, comparison) for entry, comparison in zip(shown, comparisons, strict=True)),
        command=export_command("encoding_similarity", params, "compare"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown, "wang2021position"),
        content=SimilarityContent(
            shown=shown,
            comparisons=comparisons,
            limits=[
                1.0 if comparison.kind.startswith("cosine") else colour_limit(comparison.values)[0]
                for comparison in comparisons
            ],
        ),
    )


def _comparison_sentence(entry: SizedEncoding, comparison: Comparison) -> str:
    if entry.encoding.make_similarity is not None:
        score = "the score that position alone adds, of head 0" if "head" in entry.encoding.options else "its own score"
        text = f"{entry.title}: {score}"
    else:
        text = f"{entry.title}: {comparison.kind} of the rows"
    hidden = int(np.isnan(comparison.values).sum())
    if hidden == comparison.values.size:
        return f"{text}, undefined: every row is zero."
    text += f", {int(comparison.profile.pairs.sum()):,} pairs"
    if hidden:
        text += "; blank where a key comes after the query and is not attended to"
    beyond = 0 if comparison.kind.startswith("cosine") else colour_limit(comparison.values)[1]
    if beyond:
        text += f"; the colours end at ±{colour_limit(comparison.values)[0]:.3g}, beyond which lie {beyond:,} pairs"
    return f"{text}."


def _comparison_alt(entry: SizedEncoding, comparison: Comparison) -> str:
    profile = comparison.profile
    if not profile.distance.size:
        return f"{entry.title}: nothing to compare."
    at_zero = profile.mean[profile.distance == 0][0]
    low = int(profile.mean.argmin())
    numbers = ", ".join(
        f"{MEASURES[name].title.lower()} {in_words(name, comparison.numbers[name])}" for name in NUMBERS
    )
    return (
        f"{entry.title}: mean {comparison.kind} {at_zero:.3g} at distance 0, lowest, {profile.mean[low]:.3g}, "
        f"at distance {profile.distance[low]}; {numbers}."
    )


class ShiftResult(NamedTuple):
    """A shift by k: its matrix and residual, or the held-out R² of the best linear map, or the reason for neither."""

    matrix: np.ndarray | None = None
    residual: float = np.nan
    r2: float = np.nan
    reason: str = ""


def shift_result(entry: SizedEncoding, k: int) -> ShiftResult:
    """The closed form where there is one, else the best linear map, else the reason why not."""
    return _shift_result(entry.name, entry.length, entry.dim, k)


@lru_cache(maxsize=16)
def _shift_result(name: str, length: int, dim: int, k: int) -> ShiftResult:
    encoding = ENCODINGS[name]
    if encoding.rows == "distance":
        return ShiftResult(reason="its rows are distances; no shift of both positions changes them.")
    if encoding.make_shift is not None:
        residual = measures.shift_residual(encoding, length=length, dim=dim, k=k)
        return ShiftResult(matrix=encoding.shift(k, dim), residual=residual)
    r2 = measures.shift_r2(encoding.table(length, dim), k=k)
    if np.isnan(r2):
        return ShiftResult(reason="every row is the same; a shift changes nothing.")
    return ShiftResult(r2=r2)


def shown_dimensions(matrix: np.ndarray) -> np.ndarray:
    """The dimensions to show of a large shift matrix: evenly spaced ones, each with those it mixes with."""
    if len(matrix) <= MAX_FULL_SIZE:
        return np.arange(len(matrix))
    # With i go all the dimensions that its row takes from: its own pair, whatever the column order.
    groups = {tuple(np.flatnonzero(row)) for row in matrix} - {()}
    largest = sorted(group for group in groups if len(group) == max(map(len, groups)))
    selected = np.linspace(0, len(largest) - 1, min(PAIRS_SHOWN, len(largest))).round().astype(int)
    return np.unique(np.concatenate([largest[index] for index in selected]))


class ShiftParameters(PairParameters):
    """The number of positions that encodings are shifted by."""

    shift: int


@dataclass(frozen=True)
class ShiftContent:
    """results: the map that shifts each encoding shown by k positions."""

    shown: list[SizedEncoding]
    results: list[ShiftResult]
    k: int


@figure("encoding_shift", ShiftParameters)
def shift(params: ShiftParameters) -> Figure[ShiftContent]:
    """The best linear map from the row of a position to that of the position k further on (claim C03)."""
    shown, k = pair(params), params.shift
    results = [shift_result(entry, k) for entry in shown]

    def frame() -> pd.DataFrame:
        parts = []
        for entry, result in zip(shown, results, strict=True):
            fields = {"encoding": entry.name, "k": k, "residual": result.residual, "held_out_r2": result.r2}
            if result.matrix is None:
                parts.append(pd.DataFrame([fields]))
            else:
                row, column = np.nonzero(result.matrix)
                parts.append(
                    pd.DataFrame({**fields, "row": row, "column": column, "value": result.matrix[row, column]})
                )
        return pd.concat(parts, ignore_index=True).reindex(
            columns=["encoding", "k", "residual", "held_out_r2", "row", "column", "value"]
        )

    return Figure(
        title=f"From a position to the one {k} further on",
        finding="; ".join(_linear(entry, result, k) for entry, result in zip(shown, results, strict=True)),
        frame=frame,
        caption=sentences(*(_shift_sentence(entry, result, k) for entry, result in zip(shown, results, strict=True))),
        alt=" ".join(_shift_sentence(entry, result, k) for entry, result in zip(shown, results, strict=True)),
        command=export_command("encoding_shift", params, "shift"),
        provenance=origins(shown),
        citation_keys=citation_keys(shown),
        content=ShiftContent(shown=shown, results=results, k=k),
    )


def _linear(entry: SizedEncoding, result: ShiftResult, k: int) -> str:
    """A few words that say if one matrix shifts every position by k, and how nearly it does."""
    if result.reason:
        return f"{entry.title}: {result.reason.split(';')[0].removesuffix('.')}"
    if result.matrix is None:
        return f"{entry.title}: the best single matrix predicts a shift by {k} with R² {fixed(result.r2)}"
    return f"{entry.title}: one matrix shifts every position by {k}, to within {result.residual:.0e}"


def _shift_sentence(entry: SizedEncoding, result: ShiftResult, k: int) -> str:
    if result.reason:
        return f"{entry.title}: {result.reason}"
    if result.matrix is None:
        return (
            f"{entry.title}: no closed form. The best single linear map, fitted on four fifths of the "
            f"{entry.length - k} pairs of positions and tested on the rest, five times in turn, predicts the rows "
            f"with R² {result.r2:.3f}: 1 would be a linear shift, 0 is no better than the mean row. Ridge regression "
            "without intercept."
        )
    count = len(shown_dimensions(result.matrix))
    part = f"{count} of its {entry.dim} dimensions are drawn; the data hold every entry that is not zero." * (
        count < entry.dim
    )
    return sentences(
        f"{entry.title}: one matrix for every position, a rotation of each pair of dimensions; the largest difference "
        f"|M row(pos) − row(pos + {k})| over {entry.length - k} positions is {result.residual:.0e}.",
        part,
    )


def _first_rise(entry: SizedEncoding, comparison: Comparison) -> str:
    """The distance at which similarity first rises again after falling, in a few words."""
    first = comparison.numbers["first_rise"]
    if np.isnan(first):
        return ""
    if np.isinf(first):
        return f"{entry.title}: similarity never rises with distance"
    return f"{entry.title}: similarity first rises again {plural(int(first), 'token')} away"
