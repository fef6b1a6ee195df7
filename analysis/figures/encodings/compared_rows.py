"""The similarity of every two positions of an encoding, and the numbers computed from it."""

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


def similarity_of_rows(entry: SizedEncoding, compare: str, **options: object) -> tuple[str, np.ndarray]:
    """The kind of a comparison, and the similarity of every two positions; the encoding's own score if it has one.

    options: of its own score.
    """
    encoding = ENCODINGS[entry.name]
    if encoding.make_similarity is not None:
        return "score", encoding.similarity(entry.length, entry.dim, **options)
    if compare == "cosine":
        return "cosine similarity", measures.cosine(encoding.table(entry.length, entry.dim))
    return "dot product", encoding.similarity(entry.length, entry.dim)


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


def setting(params: RowSimilarityParameters) -> str:
    """The setting that rows are compared at, in a few words: what two numbers of one name must share to be equal."""
    return f"{COMPARISONS[params.compare].lower()} of {params.length} positions"


def which_similarity(params: RowSimilarityParameters) -> str:
    """A sentence on the similarity that numbers are of, and on the one that statement C04b takes."""
    return (
        f"Numbers are of the {COMPARISONS[params.compare].lower()} of rows, or of the score of an encoding that "
        "defines one; statement C04b takes the dot product in place of the cosine, and so can give other numbers."
    )
