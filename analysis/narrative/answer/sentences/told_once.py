"""The case in which adding loses: positions given once at the input, against positions given to every layer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.claims.statements.judgement import CONTRADICTED, MIXED, OPEN, SUPPORTED, Ask, Judgement
from analysis.core.formatting import percent, plural, uncapitalised
from analysis.figures.reading.told import NUMBERED, depth
from analysis.narrative.answer.computed_sentence import (
    ComputedSentence,
    Facts,
    Sentence,
    Tempering,
    fixed_sentences,
    nats,
    paired_difference,
    register,
    undecided,
)
from analysis.rules import encoder_contests

TOLD = ("C34p", "C34o", "C34a", "C34w")
"""The contrasts of a single difference that Home tells, in this order: a reader checks them in the picture beside them.

The others are below `tempered_by`, and on Claims.
"""
_AGAIN = {one.statement: one.sides for one in NUMBERED.values() if one.sides}
"""The steps that were made again with new seeds, which stand in the rows of their variants: the two sides in words."""
TWICE = "C41a"
"""The gap between adding once and telling the attention of every layer after twice as many steps."""
ROTARY, TURNED_OR_TOLD = "C42a", "C42d"
"""Rotations against adding, and against positions that are told to the queries and keys of every layer."""
EQUALLY_NARROW = "C36b"
"""Concatenating against adding, with words of half of the width on both sides."""
WIDER, SAME_SHAPE, WIDER_WORDS = "C36d", "C36g", "C36m"
"""Concatenating in a wider model of no more parameters against adding; and against adding in the same shape, with words
as wide, and with words that take all its width."""
_CONTRASTS = (*TOLD, *_AGAIN, EQUALLY_NARROW, WIDER, SAME_SHAPE, WIDER_WORDS)


@dataclass(frozen=True, kw_only=True)
class Remark:
    """One contrast in a sentence about a variant, which stands in a list, on Home below the row of that variant."""

    variant: str
    sentence: str


SHORTER = {
    ("C34o", CONTRADICTED): "A matrix of its own saves steps, too: {share} of those with the shared one.",
    (
        "C34p",
        SUPPORTED,
    ): "Told to the queries and keys of every layer, encoders begin to use order after {share} of adding's steps.",
}
"""Outcomes in other words than the fixed ones, which say less. {share}: a ratio of steps."""


def variants() -> frozenset[str]:
    """The variants on either side of the contrasts of one preset that the sentence may tell."""
    sides = _sides()
    return frozenset(side for name in _CONTRASTS for side in sides[name])


def _sides() -> Mapping[str, tuple[str, str]]:
    """Contrast of the rules for encoders -> the variant that it is about, and what that is compared with."""
    return {name: (one.variant, one.baseline) for name, (one, _) in encoder_contests().items()}


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The gain of telling the attention of every layer, and how little of it a matrix for positions explains."""
    isolated = facts["C34b"]
    if isolated.verdict != SUPPORTED or isolated.effect is None:
        return None
    # The sentence that was fixed before the runs blames that positions are told once; the sides differ in more.
    bold = f"ends {abs(isolated.effect):.2f} nats higher"
    seeds = plural(isolated.seeds or 0, "seed")
    return ComputedSentence(
        sentence=f"Adding positions once, at the input, {bold} than telling them to the queries and keys of every "
        f"layer through the same matrix ({seeds} each).{_first_layer(facts, ask)}{_later(facts, ask)}"
        f"{_causes(facts)}",
        bold=bold,
        heading="In our trainings it is not the best way",
        value=isolated.effect,
        query=isolated.query,
        against=True,
    )


def _first_layer(facts: Facts, ask: Ask) -> str:
    """The part of the gain that is there once the first layer alone is told; "" unless the rules find that it gains."""
    fact = facts.get("C34t")
    difference = paired_difference(ask, "avg", "first_layer_attention", "bert_a")
    if fact is None or fact.verdict != SUPPORTED or difference is None:
        return ""
    return f" Told to those of the first layer alone, positions end {nats(difference)} than added once."


def _later(facts: Facts, ask: Ask) -> str:
    """The gap after twice as many steps, and that of the same seeds before; "" while the longer trainings run."""
    fact = facts.get(TWICE)
    if fact is None or fact.missing or fact.effect is None:
        return ""
    contest, rules = encoder_contests()[TWICE]
    before = paired_difference(ask, "avg", contest.variant, contest.baseline, rules.seeds)
    seeds = f"{plural(fact.seeds or 0, 'seed')}{'; open' if fact.verdict == OPEN else ''}"
    left = f"is {-fact.effect:.2f}" if fact.effect < 0 else "is gone"
    usual = "" if before is None else f", {abs(before):.2f} for the same seeds before"
    return f" Trained twice as long, the gap {left} ({seeds}{usual})."


def _steps(facts: Facts) -> list[Remark]:
    """The remarks on steps that were made again, with the number of their new seeds."""
    variant_sides = _sides()
    return [
        Remark(
            variant=variant_sides[name][0],
            sentence=f"{one}, positions end {nats(fact.effect)} than {other} "
            f"({fact.seeds} new seeds{'; open' if fact.verdict == OPEN else ''}).",
        )
        for name, (one, other) in _AGAIN.items()
        if (fact := facts.get(name)) is not None and fact.effect is not None
    ]


def remarks(facts: Facts) -> tuple[Remark, ...]:
    """Outcomes of contrasts of one difference, of rotations and of concatenating, in the order of Home's rows."""
    told = _outcomes([facts[name] for name in TOLD if name in facts])
    return (*_steps(facts), *told, *_concatenated(facts), *_rotary(facts))


def _causes(facts: Facts) -> str:
    """The remarks, a line each."""
    return "".join(f"\n{remark.sentence}" for remark in remarks(facts))


def _concatenated(facts: Facts) -> list[Remark]:
    """The remarks on concatenating where it ends lower than adding, with words as narrow and with full ones."""
    equal, fact, sides = facts.get(EQUALLY_NARROW), facts.get(WIDER), _sides()
    told = []
    if equal is not None and equal.verdict == SUPPORTED and equal.effect is not None:
        narrow = (
            "With words equally narrow (half of the width), concatenated positions end "
            f"{nats(equal.effect)} than added."
        )
        told.append(Remark(variant=sides[EQUALLY_NARROW][0], sentence=narrow))
    if fact is None or fact.verdict != SUPPORTED or fact.effect is None or fact.high is None or fact.high >= 0:
        return told
    wider = (
        "Concatenated beside words of full width, in a wider, flatter model of no more parameters, positions end "
        f"{nats(fact.effect)} than added."
    )
    return [*told, Remark(variant=sides[WIDER][0], sentence=wider), *_in_one_shape(facts)]


def _in_one_shape(facts: Facts) -> list[Remark]:
    """The controls of the wider concatenation: with words as wide in its own row, with full ones in theirs."""
    sides = _sides()
    same = _of_the_shape(facts, SAME_SHAPE, "words as wide")
    wider = _of_the_shape(facts, WIDER_WORDS, "wider words")
    if not same and not wider:
        wider = "A control of that shape is in training."
    told = {sides[SAME_SHAPE][0]: same, sides[WIDER_WORDS][1]: wider}
    return [Remark(variant=variant, sentence=sentence) for variant, sentence in told.items() if sentence]


def _of_the_shape(facts: Facts, name: str, words: str) -> str:
    """A control in the words of its rule if it is decided, in numbers if it is open; empty while it is in training."""
    if decided := fixed_sentences(facts, (name,)):
        seeds = f" ({facts[name].seeds} new seeds)" if name == WIDER_WORDS else ""
        return f"{decided.removesuffix('.')}{seeds}."
    if not undecided(facts.get(name)):
        return ""
    return f"In this shape, concatenating ends {_against(facts[name], words)} (open)."


def _against(fact: Judgement, words: str) -> str:
    """A contrast with adding: `0.05 nats lower than adding with words as wide`."""
    return f"{nats(fact.effect or 0.0)} than adding with {words}"


def _outcomes(facts: Iterable[Judgement]) -> list[Remark]:
    """The sentences of decided contrasts; of two sides that count as the same, with what lies between them."""
    told, lines, sides = [], set(), _sides()
    for fact in facts:
        if not fact.answer or fact.effect is None:
            continue
        sentence = fact.answer
        if shorter := SHORTER.get((fact.id, fact.verdict)):
            sentence = shorter.format(share=percent(fact.effect))
        elif fact.kind == "final_loss" and fact.verdict == SUPPORTED and abs(fact.effect) < (fact.line or 0.0):
            # The line is told once.
            line = "" if fact.line in lines else f"; below {fact.line:g} is the same"
            lines.add(fact.line)
            same = fact.answer if "final loss" in fact.answer else f"In final loss, {uncapitalised(fact.answer)}"
            sentence = f"{same.removesuffix('.')} ({abs(fact.effect):.2f} nats apart{line})."
        # Of two variants that are both compared with adding, the row of the one that differs from it in more.
        variant = max(sides[fact.id], key=lambda side: depth(side, 0))
        told.append(Remark(variant=variant, sentence=sentence))
    return told


def rotary_variant() -> str:
    """The variant of the contrast of rotations with adding."""
    return _sides()[ROTARY][0]


def _rotary(facts: Facts) -> list[Remark]:
    """The remark on rotary positions, if the rules have decided that they end lower."""
    fact = facts.get(ROTARY)
    if fact is None or fact.verdict != SUPPORTED or fact.effect is None:
        return []
    seeds = plural(fact.seeds or 0, "seed")
    turned = f"Turned into queries and keys, positions end {nats(fact.effect)} than added ({seeds})"
    return [Remark(variant=rotary_variant(), sentence=f"{turned}{_beside_told(facts)}.")]


def _beside_told(facts: Facts) -> str:
    """A clause on rotations beside positions that are told as often but not turned; empty while that is open."""
    fact = facts.get(TURNED_OR_TOLD)
    if fact is None or fact.effect is None or fact.verdict not in (SUPPORTED, CONTRADICTED):
        return ""
    if fact.verdict == SUPPORTED:
        return ", the same as told to them in every layer"
    return f", {nats(fact.effect)} than told to them in every layer"


register(
    Sentence(
        name="told_once",
        order=60,
        claim="C34",
        link="One thing at a time",
        page="claims",
        values={"claim": "C34", "statement": "C34b"},
        part="but",
        tempered_by=(
            Tempering(
                "C34e",
                CONTRADICTED,
                "Telling positions often is not enough: added again to the whole input of "
                "every layer, they end {size:.2f} nats higher than added once, equally normalised.",
            ),
            Tempering(
                "C29d",
                SUPPORTED,
                "A part of it is where the table of adding starts: from sinusoids instead of random numbers it ends "
                "{size:.2f} nats lower (five new seeds). Such a start was not tried with positions told in every "
                "layer.",
            ),
            Tempering(
                "C34y",
                OPEN,
                "A matrix of its own, as extra parameters, is open in the first layer alone: told there, positions end "
                "{nats} with it ({low:.2f} to {high:.2f}).",
            ),
            Tempering(
                "C42f",
                SUPPORTED,
                "Not every way of telling every layer did better: with a fixed bias by distance, alike on both sides "
                "(symmetric ALiBi), the loss ended {size:.2f} nats higher than with positions added once ({low:.2f} to "
                "{high:.2f}, with five new seeds; the first eight lay too far apart for the rules). In the one "
                "published table of masked encoders, which are much larger, ALiBi ends a little lower (Haviv et al., "
                "2022).",
            ),
            Tempering(
                "C42l",
                SUPPORTED,
                "On texts four times as long, the same bias ends {size:.2f} nats lower than positions added once, "
                "whose later ones no training reached.",
            ),
            Tempering(
                "C42j",
                SUPPORTED,
                "In decoders, where the mask tells before from after, the same bias holds up: at four times the length "
                "of training the loss ends {size:.2f} nats lower than with rotary positions (five seeds).",
            ),
            Tempering(
                "C34h",
                SUPPORTED,
                "Keeping the cross terms does not matter by the rules: without them, positions told in every layer end "
                "{nats}, which counts as the same.",
            ),
            Tempering(
                "C22e",
                MIXED,
                "In {agreeing} of {families} papers that compare them, relative positions beat absolute ones by more "
                "than what counts as the same ({holding} of their {count} figures).",
            ),
            Tempering(
                "C19a",
                CONTRADICTED,
                "In the two published comparisons nearest to it, one of which changes more, the average of all columns "
                "of GLUE rises by at most {size:.2f} points without the cross terms.",
            ),
            Tempering(
                "C30d",
                CONTRADICTED,
                "With only a tenth of the dimensions turned, a decoder "
                "ends {size:.2f} nats higher at four times the length than with all.",
            ),
        ),
        tell=tell,
    )
)
