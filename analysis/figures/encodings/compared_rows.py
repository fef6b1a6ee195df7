"""The similarity of every two positions of an encoding, and the numbers computed from it."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from analysis.core.errors import AddendError
from analysis.encodings import ENCODINGS, measures
from analysis.figures.encodings.sized import EncodingPairParameters, SizedEncoding

COMPARISONS = {"cosine": "Cosine", "dot": "Dot product"}
VISIBLE = 0.05
"""The part of its height by which similarity has to climb again before a reader sees it."""


class RowSimilarities(NamedTuple):
    """The similarity of every two positions, and the numbers computed from it."""

    values: np.ndarray  # (query, key); NaN where undefined or not attended to
    kind: str  # cosine similarity, dot product, or score
    profile: measures.ByDistance
    numbers: dict[str, float]


def kind_of(name: str, compare: str) -> str:
    """The kind of similarity that an encoding's rows are compared by: its own score if it has one."""
    if ENCODINGS[name].make_similarity is not None:
        return "score"
    return "cosine similarity" if compare == "cosine" else "dot product"


def similarity_of_rows(entry: SizedEncoding, compare: str, **options: object) -> tuple[str, np.ndarray]:
    """The kind of a comparison, and the similarity of every two positions; the encoding's own score if it has one.

    options: of its own score.
    """
    encoding, kind = ENCODINGS[entry.name], kind_of(entry.name, compare)
    if kind == "cosine similarity":
        return kind, measures.cosine(encoding.table(entry.length, entry.dim))
    return kind, encoding.similarity(entry.length, entry.dim, **(options if kind == "score" else {}))


def compare_rows(entry: SizedEncoding, compare: str, **options: object) -> RowSimilarities:
    """The requested comparison; the encoding's own score where it defines one. options: of that."""
    if compare not in COMPARISONS:
        raise AddendError(f"The comparison {compare!r} is unknown; choose one of: {', '.join(COMPARISONS)}.")
    kind, values = similarity_of_rows(entry, compare, **options)
    values.setflags(write=False)
    numbers = {
        "translation_invariance": measures.translation_invariance(values),
        "monotonicity": measures.monotonicity(values),
        "symmetry": measures.symmetry(values),
        "visible_rise": measures.visible_rise(values, VISIBLE),
    }
    return RowSimilarities(values, kind, measures.by_distance(values), numbers)


class RowSimilarityParameters(EncodingPairParameters):
    """The measure that rows are compared by: a key of `COMPARISONS`."""

    compare: str


def setting(params: RowSimilarityParameters, kinds: Collection[str] = ()) -> str:
    """The setting that rows are compared at, in a few words: what two numbers of one name must share to be equal.

    kinds: of the similarities that are shown, where these may be scores alone.
    """
    measure = "score" if set(kinds) == {"score"} else COMPARISONS[params.compare].lower()
    return f"{measure} of {params.length} positions"


def which_similarity(params: RowSimilarityParameters) -> str:
    """A sentence on the similarity that numbers are of, and on the one that statement C04b takes."""
    return (
        f"Numbers are of the {COMPARISONS[params.compare].lower()} of rows, or of the score of an encoding that "
        "defines one; statement C04b takes the dot product in place of the cosine, and so can give other numbers."
    )
