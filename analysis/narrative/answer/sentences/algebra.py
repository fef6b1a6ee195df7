"""Concatenating and then multiplying is already a sum: the identity, checked with random matrices."""

import math

import numpy as np

from analysis.claims.statements.judgement import OPEN, SUPPORTED, Ask, Judgement
from analysis.core.formatting import join_names, plural, signed
from analysis.narrative.answer.computed_sentence import (
    ComputedSentence,
    Facts,
    Sentence,
    fixed_sentences,
    nats,
    register,
    undecided,
)

PROJECTED = "C36f"
"""Concatenating at full width and projecting back, against adding."""
BLOCKS, PROJECTION = "C36v", "C36w"
"""Two blocks of a projection at the input against one, and a projection after adding against none."""
PUBLISHED = (
    "SELECT DISTINCT short, setting, round(value - baseline_value, 2) AS difference, "
    "CASE split_part(variant, ':', 1) WHEN 'Learned Absolute' THEN 'learned positions' WHEN 'RoPE' THEN 'rotary ones' "
    "WHEN 'Relative' THEN 'relative ones' ELSE 'sinusoids' END AS positions "
    "FROM published_pairs WHERE table_name = 'Table 3' AND variant LIKE '%: Concat+projection' "
    "AND baseline = split_part(variant, ':', 1) || ': Add' ORDER BY difference DESC"
)
"""Published accuracies of concatenating and projecting back less adding, for every kind of position that was tried."""


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
    return ComputedSentence(
        sentence="Concatenating and then multiplying by a matrix is already a sum: word and position meet separate "
        "blocks. In the queries, keys and values of the first layer, adding uses one block for both.",
        bold="is already a sum",
        heading="It is already a sum",
        value=error_bound(),
        query="SELECT 'analysis/narrative/answer/sentences/algebra.py: error_bound()' AS computed_by",
        further="\n".join(filter(None, (_trained(facts), _published(ask)))),
    )


def _trained(facts: Facts) -> str:
    """The outcome of training such a concatenation: algebra does not say that both learn alike. "" for none yet."""
    blocks, projection = facts.get(BLOCKS), facts.get(PROJECTION)
    if blocks is not None and projection is not None and not blocks.missing + projection.missing:
        return (
            f"Trained, both do not learn alike. With a projection at the input, two blocks end "
            f"{nats(blocks.effect or 0.0)} than one{_standing(blocks)}; that projection itself, after adding, ends "
            f"{nats(projection.effect or 0.0)} than adding alone{_standing(projection)} "
            f"({plural(blocks.seeds or 0, 'seed')} each, feed-forward layers equally wide)."
        )
    if decided := fixed_sentences(facts, (PROJECTED,)):
        return decided
    open_yet = undecided(facts.get(PROJECTED))
    return f"Trained, a concatenation that is projected back {open_yet}." if open_yet else ""


def _standing(fact: Judgement) -> str:
    """A clause on a difference that is open, or that counts as none."""
    return {OPEN: " (open)", SUPPORTED: " (which counts as the same)"}.get(fact.verdict, "")


def _published(ask: Ask) -> str:
    """The published comparisons of exactly this with adding, by kind of position; "" for none stored."""
    rows = ask(PUBLISHED)
    if not rows:
        return ""
    found = join_names(f"{signed(row['difference'], 1)} with {row['positions']}" for row in rows)
    return (
        f"Published, in points of accuracy on one task, compared with adding: {found} ({rows[0]['short']}, "
        f"{rows[0]['setting']})."
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
        part="reason",
    )
)
