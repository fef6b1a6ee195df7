"""The size of the encoders that we trained, and the statements on wider and narrower ones that are open."""

from itertools import pairwise

from analysis.ablation.presets import PRESETS
from analysis.claims.statements.judgement import CONTRADICTED, OPEN, SUPPORTED, Ask, Judgement
from analysis.core.formatting import join_names, percent, plural, sentences
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, nats, register
from analysis.rules import claim_of, encoder_contests, encoder_rules, training_rules

CLAIM = "C37"
"""The claim whose statements compare encoders of several widths."""
QUERY = (
    "SELECT count(*) FILTER (verdict = 'open') AS open, count(*) AS statements FROM statements "
    f"WHERE parent = '{CLAIM}'"
)

JUDGED = "width128"
"""The preset of the encoders that Home compares."""
LONGER = "cpu"
"""The preset, an exploratory one, whose trainings were also run for longer."""
LEADS = (
    "SELECT steps, avg(a.final_loss - t.final_loss) AS lead, count(*) AS seeds "
    "FROM pretrainings a JOIN pretrainings t USING (preset, steps, seed) "
    f"WHERE preset = '{LONGER}' AND a.variant = 'bert_a' AND t.variant = 'tupe_a' AND "
    + " AND ".join(
        f"{run}.config ->> '$.{name}' = '{getattr(PRESETS[LONGER], name)}'"
        for run in "at"
        for name in ("learning_rate", "norm", "initializer_range")
    )
    + " GROUP BY steps ORDER BY steps"
)
"""The lead of TUPE-A over adding, in nats, by the number of steps, with the preset's own settings."""

TOLD_LONGER, TURNED_LONGER = "C34ac", "C42k"
"""Positions that are told to every layer, and turned ones, against added ones, on texts longer than in training."""
ONCE_AT_OTHER_WIDTHS = ("C37g", "C37h")
"""The statements on telling the attention of every layer against adding once, at other widths than that of the rest."""


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The size of the encoders behind the losses, and what is known of another width; None before any is trained."""
    seeds = [
        fact.seeds or 0 for name, fact in facts.items() if claim_of(name) in ("C17", "C34") and fact.effect is not None
    ]
    if not seeds:
        return None
    size = PRESETS[training_rules().preset]
    bold = f"{plural(size.layers, 'layer')} and width {size.hidden_size}"
    undecided = sum(fact.verdict == OPEN for name, fact in facts.items() if name.startswith(CLAIM))
    widths = sorted(PRESETS[preset].hidden_size for preset in encoder_rules().recipes)
    others = join_names(str(width) for width in widths if width != size.hidden_size)
    waiting = f"{plural(undecided, 'statement')} on widths {others} {'is' if undecided == 1 else 'are'} open."
    open_yet = [waiting] if undecided else []
    known = [told for name in ONCE_AT_OTHER_WIDTHS if (told := _at_width(facts.get(name)))]
    known, further = (known[:1], [*known[1:], *open_yet]) if known else (open_yet, [])
    repeated = f"Each comparison rests on at most {plural(max(seeds), 'seed')}."
    rate = encoder_rules().recipes[JUDGED].learning_rate
    rates = (
        ""
        if rate is None
        else f"All encoders of width {PRESETS[JUDGED].hidden_size} were trained at one learning rate, {rate:g}. It was "
        "the best of three for adding, normalised or not, and for four ways of telling every layer, in "
        "exploratory trainings; no concatenation was tried at others."
    )
    return ComputedSentence(
        sentence=sentences(
            f"Our own encoders are small: {bold}, trained on texts of {size.length} tokens.",
            "Their losses say what helps them, not how much it helps a large model.",
            *known,
            _on_longer_texts(facts),
        ),
        bold=bold,
        heading="What was trained is small",
        value=float(undecided),
        query=QUERY,
        against=True,
        further="\n".join(filter(None, [repeated, rates, *further, _longer(ask)])),
    )


def _on_longer_texts(facts: Facts) -> str:
    """The same two on texts four times as long, and rotations; "" unless both comparisons are decided."""
    told, turned = facts.get(TOLD_LONGER), facts.get(TURNED_LONGER)
    if told is None or turned is None or told.verdict != CONTRADICTED or turned.verdict != SUPPORTED:
        return ""
    return (
        "On texts four times as long, whose later positions no training reached, positions told to the queries and "
        f"keys of every layer end {nats(told.effect or 0.0)} than added once, and turned ones "
        f"{nats(turned.effect or 0.0)}."
    )


def _at_width(fact: Judgement | None) -> str:
    """The same two ends at another width, where the rules have decided that they differ; "" elsewhere.

    The words that were fixed before the runs name how often positions are told, and the sides differ in more.
    """
    if fact is None or fact.verdict != SUPPORTED or fact.effect is None:
        return ""
    (preset,) = encoder_contests()[fact.id][0].presets
    return (
        f"At width {PRESETS[preset].hidden_size} adding once ends {abs(fact.effect):.2f} nats higher than telling the "
        "queries and keys of every layer."
    )


def _longer(ask: Ask) -> str:
    """The lead of a way that keeps positions apart after longer and longer trainings; "" for a single length."""
    rows = ask(LEADS)
    leads = [row["lead"] for row in rows]
    if len(rows) < 2:
        return ""
    verb = "shrinks" if all(later < earlier for earlier, later in pairwise(leads)) else "changes"
    by_length = join_names(
        f"{row['lead']:.2f} nats after {row['steps']:,} steps ({plural(row['seeds'], 'seed')})" for row in rows
    )
    hidden, judged = (percent(PRESETS[name].masked_share) for name in (LONGER, training_rules().preset))
    return (
        f"TUPE-A’s lead over adding {verb} with longer training: it is {by_length}. These trainings were exploratory "
        f"and hid {hidden} of the words, not {judged}, which slows learning."
    )


register(
    Sentence(
        name="small",
        order=70,
        claim=CLAIM,
        link="The widths",
        page="claims",
        values={"claim": CLAIM, "statement": ONCE_AT_OTHER_WIDTHS[0]},
        tell=tell,
        part="but",
    )
)
