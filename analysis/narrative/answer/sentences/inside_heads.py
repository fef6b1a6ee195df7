"""Concatenation inside attention: the score is a sum of two scores, and shares nothing; checked with random vectors."""

import math

import numpy as np

from analysis.claims.statements.judgement import SUPPORTED, Ask
from analysis.core.formatting import signed
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, register

CONTENT, ROTATED = 128, 64
"""Dimensions of a head of DeepSeek-V3 that hold content, and those that are turned by the position."""


def largest_error(content: int = CONTENT, rotated: int = ROTATED) -> float:
    """The largest |[a ; b] · [c ; d] - (a · c + b · d)| of random queries and keys of one head, in float64."""
    rng = np.random.default_rng(0)
    a, c = rng.normal(size=(2, 64, content))
    b, d = rng.normal(size=(2, 64, rotated))
    together = np.concatenate([a, b], -1) @ np.concatenate([c, d], -1).T
    return float(np.abs(together - (a @ c.T + b @ d.T)).max())


def error_bound() -> float:
    """The power of ten that `largest_error` lies below: the same on processors that round in another order."""
    return 10.0 ** math.ceil(math.log10(largest_error()))


def tell(facts: Facts, ask: Ask) -> ComputedSentence:
    """An identity needs no data; which models do so is read from their code in transformers (a test holds it).

    Their turned key is one for all heads; what that costs decoders of ours is told where its statement is decided.
    """
    del ask
    shared = facts.get("C30e")
    cost = ""
    if shared is not None and shared.verdict == SUPPORTED and shared.effect is not None:
        cost = f" Sharing the turned key among heads cost our small decoders little ({signed(shared.effect)} nats)."
    return ComputedSentence(
        sentence=f"DeepSeek-V2 and V3 do concatenate, inside attention: in each head {CONTENT} dimensions of the word "
        f"that are not turned stand beside {ROTATED} that its position turns; no position vector stands beside a word. "
        f"A score is then a sum of two scores without cross terms between them.{cost}",
        bold="inside attention",
        heading="Concatenating inside attention",
        value=error_bound(),
        query="SELECT 'analysis/narrative/answer/sentences/inside_heads.py: error_bound()' AS computed_by",
    )


register(
    Sentence(
        name="inside_heads",
        order=56,
        claim="C30",
        link="Turning some dimensions",
        page="claims",
        values={"claim": "C30"},
        tell=tell,
    )
)
