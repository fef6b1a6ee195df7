"""Concatenating and then multiplying is already a sum: the identity, checked with random matrices."""

import numpy as np

from analysis.answer.base import Facts, Said, Sentence, register
from analysis.claims.said import number
from analysis.statements.base import Ask


def largest_error(words: int = 384, positions: int = 128, out: int = 384) -> float:
    """The largest |[w ; p] W - (w W_word + p W_position)| of random vectors and a random matrix, in float64."""
    rng = np.random.default_rng(0)
    w, p = rng.normal(size=(64, words)), rng.normal(size=(64, positions))
    matrix = rng.normal(size=(words + positions, out)) / np.sqrt(words + positions)
    apart = w @ matrix[:words] + p @ matrix[words:]
    return float(np.abs(np.concatenate([w, p], -1) @ matrix - apart).max())


def tell(facts: Facts, ask: Ask) -> Said:
    """An identity needs no data; the error is that of rounding."""
    del facts, ask
    error = largest_error()
    return Said(
        sentence="Concatenating word and position and then multiplying by a matrix is already a sum: each part meets "
        f"its own block of the matrix (checked to {number(error)}). Adding only makes the two blocks one.",
        bold="is already a sum",
        value=error,
        query="SELECT 'analysis/answer/sentences/algebra.py: largest_error()' AS computed_by",
    )


register(
    Sentence(
        name="algebra",
        order=10,
        claim="C10",
        link="The arithmetic",
        page="read",
        values={"step": "concatenation"},
        tell=tell,
    )
)
