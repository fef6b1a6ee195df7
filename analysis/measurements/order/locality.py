"""Measures attention against distance: the distances over which [CLS], and words, attend to the words of a window.

A query's attention to itself and to separators is left out, and what is left is made to sum to 1: attention that has
nothing to fetch rests there (Clark et al. 2019, "What Does BERT Look At?"). What a query gives to itself is told apart.
Pure; shapes: B window, H head, T token, W word (the tokens that are none of the special ones).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int64
from numpy import ndarray

CLS, WORD = "cls", "word"


@dataclass(frozen=True)
class AttentionDistance:
    """Attention of one kind of query by distance, in every window; NaN for a query that attends to no other word."""

    query: str
    at: Float[ndarray, "window head distance"]
    """Share at each distance, from 1."""
    even: Float[ndarray, " distance"]
    """The same if every word that is attended got the same."""
    itself: Float[ndarray, "window head"]
    """Share of all attention that a query gives to itself."""
    even_itself: float

    @property
    def distances(self) -> Int64[ndarray, " distance"]:
        """1, 2, ..."""
        return np.arange(1, len(self.even) + 1)

    @property
    def mean_distance(self) -> Float[ndarray, "window head"]:
        """The mean distance of attention, in tokens."""
        return self.at @ self.distances

    @property
    def even_distance(self) -> float:
        """The mean distance of even attention, in tokens."""
        return float(self.even @ self.distances)


def locality(
    pattern: Float[ndarray, "B H T T"], attended: Bool[ndarray, "T T"], words: Bool[ndarray, " T"], *, cls: bool
) -> Iterator[AttentionDistance]:
    """The locality of [CLS], where there is one (the first token) and it attends to words; and that of words.

    pattern: rows sum to 1. attended: the keys that each query may attend to. words: which tokens are words.
    """
    if cls and (attended[0] & words).any():
        yield _attention_distance(CLS, pattern, attended, words, np.asarray([0]))
    yield _attention_distance(WORD, pattern, attended, words, np.flatnonzero(words))


def _attention_distance(
    query: str,
    pattern: Float[ndarray, "B H T T"],
    attended: Bool[ndarray, "T T"],
    words: Bool[ndarray, " T"],
    rows: Int64[ndarray, " query"],
) -> AttentionDistance:
    others = attended[rows] & words & (np.arange(len(words)) != rows[:, None])
    rows = rows[others.any(1)]  # The first word of a causal model has no other.
    others = others[others.any(1)]
    weights = pattern[:, :, rows].astype(np.float64) * others
    with np.errstate(invalid="ignore"):  # Where other words' attention is 0 by underflow.
        shares = weights / weights.sum(-1, keepdims=True)
    away = np.abs(np.arange(len(words)) - rows[:, None])
    distance_onehot = np.eye(len(words))[away][..., 1:]  # (query, token, distance)
    even = others / others.sum(-1, keepdims=True)
    itself = pattern[:, :, rows, rows].astype(np.float64).mean(-1)
    return AttentionDistance(
        query,
        np.einsum("bhqt,qtd->bhd", shares, distance_onehot, optimize=True) / len(rows),
        np.einsum("qt,qtd->d", even, distance_onehot) / len(rows),
        itself,
        float((1 / attended[rows].sum(-1)).mean()),
    )
