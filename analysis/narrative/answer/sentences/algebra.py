"""Concatenating and then multiplying is already a sum: the identity, checked with random matrices."""

import math

import numpy as np

from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED, Ask, Judgement
from analysis.core.formatting import join_names, plural, signed
from analysis.narrative.answer.computed_sentence import (
    ComputedSentence,
    Facts,
    Sentence,
    nats,
    register,
)

BLOCKS, PROJECTION, BOTH = "C36v", "C36w", "C36o"
"""Two blocks of a projection at the input against one, a projection after adding against none, and both at once."""
FROM_ADDING = "C36z", "C36ab", "C36aa"
"""The same three where every block starts as the identity, so that training starts from adding."""
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
        "blocks. In the queries, keys and values of the first layer, adding uses one block for both."
        f"{_from_adding(facts) or _blocks(facts)}",
        bold="is already a sum",
        heading="It is already a sum",
        value=error_bound(),
        query="SELECT 'analysis/narrative/answer/sentences/algebra.py: error_bound()' AS computed_by",
        further="\n".join(filter(None, (_projected_sum(facts), _trained(facts), _published(ask)))),
    )


def _complete(facts: Facts, ids: tuple[str, ...]) -> list[Judgement]:
    """The judgements on these statements; none unless every one has all of its runs."""
    found = [facts[id] for id in ids if id in facts]
    return found if len(found) == len(ids) and not any(one.missing or one.effect is None for one in found) else []


def _from_adding(facts: Facts) -> str:
    """The gain of two blocks on one, and on adding alone, if training starts from adding; "" until all are trained."""
    if not (found := _complete(facts, FROM_ADDING)):
        return ""
    blocks, _, both = found
    return (
        " Where training starts from adding, an encoder whose input projection has two blocks ends "
        f"{nats(blocks.effect or 0.0)}{_remark(blocks)} than one with a single block, and {nats(both.effect or 0.0)}"
        f"{_remark(both)} than one that adds without a projection ({plural(blocks.seeds or 0, 'seed')} each)."
    )


def _projected_sum(facts: Facts) -> str:
    """The cost of a projection after the sum that starts as the identity; "" until it is trained."""
    if not (found := _complete(facts, FROM_ADDING)):
        return ""
    _, projection, _ = found
    return (
        f"A projection after the sum that starts as the identity ends {nats(projection.effect or 0.0)}"
        f"{_remark(projection)} than adding alone."
    )


def _remark(fact: Judgement) -> str:
    """The note that a number must be read with: that it is open, or too small to count; "" for neither."""
    if fact.verdict == OPEN:
        return " (open)"
    effect, refuted = fact.effect or 0.0, fact.verdict == CONTRADICTED
    # What is refuted is "lower", and what is supported "at most the margin higher": neither tells of the other side.
    return " (too little to count)" if abs(effect) < abs(fact.line or 0.0) and refuted == (effect < 0) else ""


def _trained(facts: Facts) -> str:
    """The effect of the projection by itself, and with two blocks, beside adding; "" until they are trained."""
    projection, both = facts.get(PROJECTION), facts.get(BOTH)
    if projection is not None and both is not None and _blocks(facts):
        start = "If the projection starts from small random numbers: " if _from_adding(facts) else ""
        return (
            f"{start}{'c' if start else 'C'}ompared with adding alone, adding and then projecting ends "
            f"{nats(projection.effect or 0.0)}{_standing(projection, ' ({})')}, and concatenating and projecting "
            f"{nats(both.effect or 0.0)}{_standing(both, ' ({})')}. The feed-forward layers of all three are equally "
            "wide."
        )
    return ""


def _blocks(facts: Facts) -> str:
    """The worth of a second block in training, where nothing else differs; "" until both sides are trained."""
    if not (found := _complete(facts, (BLOCKS, PROJECTION))):
        return ""
    blocks, _ = found
    return (
        f" With one projection at the input, encoders that have two blocks end {nats(blocks.effect or 0.0)} than those "
        f"with one ({plural(blocks.seeds or 0, 'seed')} each{_standing(blocks, '; {}')})."
    )


def _standing(fact: Judgement, around: str) -> str:
    """The word for a difference that is open, or that counts as none, in a frame with a place {}; "" for another."""
    word = {OPEN: "open", SUPPORTED: "which counts as the same"}.get(fact.verdict)
    return around.format(word) if word else ""


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
