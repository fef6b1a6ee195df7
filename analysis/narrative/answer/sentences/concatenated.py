"""Our own trainings of concatenation against addition, and the words that a concatenation makes narrower."""

from analysis.ablation.presets import PRESETS
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED, Ask
from analysis.core.formatting import fixed, plural, signed, uncapitalised
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
from analysis.rules import encoder_contests, encoder_rules, training_rules

WIDTH = PRESETS[training_rules().preset].hidden_size
"""The width that the sentence is about."""
LAYOUTS = ("C17a", "C17b", "C17c")
NARROW = "C36c"
"""Adding to narrower words against adding to full ones."""
EQUALLY_WIDE = ("C36a", "C36b", "C36g", "C37e")
"""Concatenating against adding with words as wide: at two widths of words, in a wider shape, and at width 64."""
PROPOSED = "C36e"
"""The arrangement that the question of the title proposes, against adding all of the same sinusoids."""
ALONE, BESIDE = "C36l", "C36k"
"""On longer texts: adding the leading sinusoids alone against adding all, and beside the words against added."""
WIDTHS = ("C37a", "C37c", "C37d")
"""Concatenating at the same width, by width, at others than that of the sentence."""
EARLIER_QUERY = "SELECT effect FROM first_verdicts WHERE id = 'C17'"
"""The first verdict's contest, of the preset `cpu`, whose trainings masked 15 % of the tokens."""


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The layouts of the same width that end lower than adding, the other differences, and the evidence against it."""
    trained = [facts[name] for name in LAYOUTS if name in facts and facts[name].effect is not None]
    if not trained:
        return None
    won = [statement for statement in trained if statement.verdict == SUPPORTED]
    undecided = [statement for statement in trained if statement.verdict == OPEN]
    layouts = plural(len(trained), "layout")
    if won:
        bold = f"ends lower with {len(won)} of {layouts}"
    elif undecided:
        bold = f"is open for {len(undecided)} of {layouts}"
    else:
        bold = "ends higher"
    effects = sorted(statement.effect or 0.0 for statement in trained)
    size = PRESETS[training_rules().preset]
    best = min(trained, key=lambda statement: statement.effect or 0.0)
    return ComputedSentence(
        sentence="\n".join(
            (
                f"In small encoders ({plural(size.layers, 'layer')}, width {size.hidden_size}) a concatenation of the "
                f"same width {bold} than adding, by {_range(effects)} nats over {layouts} "
                f"({plural(best.seeds or 0, 'seed')} each, recipe {size.preset}). "
                f"{_by_later_recipe(ask)}Its words are narrower, too.",
                *_equal_words(facts),
                *_proposed(facts, ask),
                *_widths(facts),
                *_earlier(ask, best.verdict),
            )
        ),
        bold=bold,
        heading="A concatenation of the same width",
        value=best.effect,
        query=best.query,
        against=bool(won),
    )


def _by_later_recipe(ask: Ask) -> str:
    """Two of the layouts by the recipe of `encoders.toml`, that of Home's picture; "" where either is not trained."""
    differences = [paired_difference(ask, "avg", name, "bert_a") for name in ("concat_20", "concat_50")]
    if None in differences:
        return ""
    narrow, half = (nats(one or 0.0) for one in differences)
    return (
        f"By recipe width128 it ends {narrow} where positions take 20 % of the width, and {half} where they take half "
        f"({plural(len(encoder_rules().seeds), 'seed')} each). "
    )


def _range(effects: list[float]) -> str:
    """The smallest and the largest difference, with signs only where they differ in sign."""
    if effects[0] < 0 < effects[-1]:
        return f"{signed(effects[0])} to {signed(effects[-1])}"
    sizes = sorted(map(abs, effects))
    limits = dict.fromkeys(f"{size:.2f}" for size in (sizes[0], sizes[-1]))
    return " to ".join(limits)


def _equal_words(facts: Facts) -> list[str]:
    """The cost of narrower words, in the words of the rules, and what remains with words as wide on both sides."""
    if not (narrow := fixed_sentences(facts, (NARROW,))):
        return ["Whether that is the cause is being trained, against words as narrow."]
    return [f"By recipe {encoder_contests()[NARROW][0].preset}, {uncapitalised(narrow)}", *_equally_wide(facts)]


def _equally_wide(facts: Facts) -> list[str]:
    """The comparisons in which words are as wide on both sides, where all of them end on the same side; else none."""
    known = [facts[name] for name in EQUALLY_WIDE if name in facts and facts[name].effect is not None]
    effects = sorted(fact.effect or 0.0 for fact in known)
    if len(known) < 2 or effects[0] * effects[-1] <= 0:
        return []
    decided = sum(fact.verdict != OPEN for fact in known)
    side = "lower" if effects[0] < 0 else "higher"
    # Every side has equally many parameters, so that what a table saves, its feed-forward layers gain.
    limit = ", though adding could imitate each, but for slightly narrower feed-forward layers"
    contests = [encoder_contests()[fact.id][0] for fact in known]
    elsewhere = [width for one in contests if (width := PRESETS[one.preset].hidden_size) != WIDTH]
    at_other_widths = "".join(f", {elsewhere.count(width)} at width {width}" for width in dict.fromkeys(elsewhere))
    return [
        f"With words equally wide, concatenated positions end {_range(effects)} nats {side} than added in each of "
        f"{len(known)} comparisons ({len(known) - decided} of them open{at_other_widths})"
        f"{limit if side == 'lower' else ''}."
    ]


def _proposed(facts: Facts, ask: Ask) -> list[str]:
    """The arrangement that the question proposes; none until all its seeds are trained.

    What it does on longer texts is told, too: there it may end on the other side.
    """
    open_yet = undecided(facts.get(PROPOSED), " than adding all of them")
    proposed = "Short words beside the leading sinusoids, as the question proposes,"
    told = fixed_sentences(facts, [PROPOSED]) or (f"{proposed} {open_yet}{_median(ask)}." if open_yet else "")
    return [told, *_on_longer_texts(facts)] if told else []


def _median(ask: Ask) -> str:
    """The median over seeds of the same difference: a single seed lies far off, and moves the mean."""
    median = paired_difference(ask, "median", "concat_lead", "sinusoidal_strong")
    return "" if median is None else f"; {median:.2f} in the median of {plural(len(encoder_rules().seeds), 'seed')}"


def _on_longer_texts(facts: Facts) -> list[str]:
    """The two controls that tell the arrangement from its sinusoids on longer texts; none until both are decided."""
    alone, beside = facts.get(ALONE), facts.get(BESIDE)
    if alone is None or beside is None or OPEN in (alone.verdict, beside.verdict):
        return []
    return [
        f"On texts 4 times as long they ended {nats((alone.effect or 0.0) + (beside.effect or 0.0))} than adding all "
        f"of them, but {nats(beside.effect or 0.0)} than adding the leading ones alone."
    ]


def _widths(facts: Facts) -> list[str]:
    """The differences by width that are decided; none if none is."""
    decided = fixed_sentences(facts, WIDTHS)
    return [decided] if decided else []


def _earlier(ask: Ask, verdict: str) -> list[str]:
    """The result of the exploratory trainings, told only if it points the other way."""
    rows = ask(EARLIER_QUERY)
    effect = rows[0]["effect"] if rows else None
    if effect is None or effect >= 0 or verdict != CONTRADICTED:
        return []
    return [f"In a recipe that ended too early, the 80/20 split was ahead ({fixed(effect)} nats)."]


register(
    Sentence(
        name="concatenated",
        order=55,
        claim="C17",
        link="The comparison",
        page="claims",
        values={"claim": "C17", "statement": "C17a"},
        tempered_by=(
            Tempering(
                "C17i",
                SUPPORTED,
                "If the scores keep the parts apart, too, a concatenation begins to use word "
                "order after {effect:.2f} times the steps of adding.",
            ),
            Tempering(
                "C17h",
                OPEN,
                "Whether a plain concatenation of half and half begins sooner is not decided: after {effect:.2f} times "
                "the steps ({low:.2f} to {high:.2f}).",
            ),
            Tempering(
                "C17f",
                CONTRADICTED,
                "One that leaves words 80 % of the width begins no sooner: after {effect:.2f} times the steps "
                "({low:.2f} to {high:.2f}).",
            ),
            Tempering(
                "C41c",
                OPEN,
                "After twice as many steps of recipe width128 it is not decided whether it still ends higher: by "
                "{effect:.2f} nats ({low:.2f} to {high:.2f}).",
            ),
            Tempering(
                "C17g", OPEN, "Of parts that stay apart in attention, too, there is one published figure. {found}"
            ),
        ),
        tell=tell,
    )
)
