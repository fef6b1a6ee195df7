"""Concatenating and then multiplying is already a sum: the identity, checked with random matrices."""

import math

import numpy as np

from analysis.claims.statements.judgement import Ask
from analysis.narrative.answer.computed_sentence import (
    ComputedSentence,
    Facts,
    Sentence,
    fixed_sentences,
    register,
    undecided,
)

PROJECTED = "C36f"
"""Concatenating at full width and projecting back, against adding."""


def largest_error(words: int = 384, positions: int = 128, out: int = 384) -> float:
    """The largest |[w ; p] W - (w W_word + p W_position)| of random vectors and a random matrix, in float64."""
    rng = np.random.default_rng(0)
    w, p = rng.normal(size=(64, words)), rng.normal(size=(64, positions))
    matrix = rng.normal(size=(words + positions, out)) / np.sqrt(words + positions)
    parts = w @ matrix[:words] + p @ matrix[words:]
    return float(np.abs(np.concatenate([w, p], -1) @ matrix - parts).max())


def error_bound() -> float:
    """The power of ten that `largest_error` lies below: the same on processors that round in another order."""
    return 10.0 ** math.ceil(math.log10(largest_error()))


def tell(facts: Facts, ask: Ask) -> ComputedSentence:
    """An identity needs no data; the error is that of rounding, and its bound is given. A training limits it."""
    del ask
    return ComputedSentence(
        sentence="Concatenating and then multiplying by a matrix is already a sum: word and position meet separate "
        "blocks. In the first layer, adding uses one block for both.",
        bold="is already a sum",
        heading="It is already a sum",
        value=error_bound(),
        query="SELECT 'analysis/narrative/answer/sentences/algebra.py: error_bound()' AS computed_by",
        further=_trained(facts),
    )


def _trained(facts: Facts) -> str:
    """The outcome of training such a concatenation: algebra does not say that both learn alike. "" for none yet."""
    if decided := fixed_sentences(facts, (PROJECTED,)):
        return decided
    open_yet = undecided(facts.get(PROJECTED))
    return f"Trained, a concatenation that is projected back {open_yet}." if open_yet else ""


register(
    Sentence(
        name="algebra",
        order=10,
        claim="C10",
        link="The arithmetic",
        page="read",
        values={"step": "concatenation"},
        tell=tell,
        part="reason",
    )
)
