"""The few directions that positions occupy, and the cost to a trained model of keeping words out of them."""

from collections.abc import Mapping
from typing import Any

from analysis.claims.statements.judgement import CONTRADICTED, FAILS, MIXED, OPEN, SUPPORTED, Ask
from analysis.core import default_model
from analysis.core.formatting import percent, plural
from analysis.measurements.surgery.arms import RANK, READ
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, Tempering, register

HEADINGS = {SUPPORTED: "There is room for both", CONTRADICTED: "There is not room for both"}
QUERY = (
    "SELECT w.hidden_size AS width, "
    "max(s.value) FILTER (s.operation = 'intact') AS intact, "
    "max(s.value) FILTER (s.operation = 'mean_position') AS without, "
    f"max(s.value) FILTER (s.operation = 'separated' AND s.rank = {RANK}) AS separated "
    f"FROM newest_surgery s JOIN models w USING (model) WHERE model = '{default_model.NAME}' GROUP BY ALL"
)
OTHERS = (
    "SELECT model, "
    "max(value) FILTER (operation = 'intact') AS intact, "
    "max(value) FILTER (operation = 'mean_position') AS without, "
    f"max(value) FILTER (operation = 'separated' AND rank = {RANK}) AS separated "
    f"FROM newest_surgery WHERE model <> '{default_model.NAME}' GROUP BY model "
    "HAVING intact IS NOT NULL AND without IS NOT NULL AND separated IS NOT NULL ORDER BY model"
)
CUT = "C10d"
"""The statement on this cut. Its line is the loss of a correlation below which a score counts as kept."""
TRAINED_ON = "C35a"
"""The statement on the encoder that is trained on with such a cut. Its effect is the share that it does not recover."""
FEWER = "C10j"
"""The statement on the cut along fewer directions, of the positions that sentences read."""
BEFORE = (
    "SELECT arm, avg(value) FILTER (tokens = 0) AS first, avg(value) FILTER (tokens >= 1000000) AS last FROM refits "
    "WHERE purpose = 'judged' AND measure = 'loss' "
    "AND arm IN ('minilm_separated_read', 'minilm_no_position', 'minilm_intact') GROUP BY arm"
)
"""The held-out loss of the encoder with such a cut and of the two that its training is measured by."""
LOST = "C10h"
"""The statement on the same cut in a small encoder, beside losing as many random directions of words."""
FEWER_LOST = "C10k"
"""The same along 8 directions, in two small encoders."""
AT_RANDOM = "C35b"
"""The statement on the same training with as many random directions. Its effect is how much more that misses."""
OWN = (
    "SELECT max(difference) FILTER (operation = 'separated') AS separated, "
    "max(difference) FILTER (operation = 'separated_along_read') AS along_read, "
    "(SELECT max(difference) FROM newest_masked_surgery WHERE operation = 'mean_position' "
    "AND model LIKE 'cpu2-bert_a-%') AS without "
    f"FROM newest_masked_surgery WHERE rank = {RANK} AND model LIKE 'cpu2-bert_a-%'"
)
"""The encoder of the judged recipe; the older one was still learning order. Its table has rows that no text reads, so
that it is cut along the directions of the whole table, as the real model is, and along those that texts read."""


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Sentence similarity with words kept out of the positions' directions, and the same cut in a narrow encoder."""
    rows = ask(QUERY)
    if not rows or rows[0]["intact"] is None or rows[0]["separated"] is None:
        return None
    row, verdict = rows[0], facts[CUT].verdict
    verb = {SUPPORTED: "keeps its score", CONTRADICTED: "loses some of its score"}.get(verdict, "has a score")
    without = "" if row["without"] is None else f"; {row['without']:.3f} with every position the mean"
    bold = f"{RANK} of the {row['width']} directions"
    sentence = (
        f"Reserve {bold} of {default_model.NAME} for positions (the effective rank of their centred table), the others "
        f"for words: now the sum is a concatenation, and the model {verb} "
        f"on sentence similarity ({row['separated']:.3f} of {row['intact']:.3f}{without})."
    )
    return ComputedSentence(
        sentence=sentence + _others(ask, facts[CUT].line) + _narrow(ask),
        bold=bold,
        heading=HEADINGS.get(verdict, "Is there room for both?"),
        value=float(row["separated"]),
        query=QUERY,
        against=verdict == CONTRADICTED,
        further="\n".join(
            filter(None, (_narrow_in_nats(ask), _of_few(facts), _lost_dimensions(facts), _trained_on(facts, ask)))
        ),
    )


def _of_few(facts: Facts) -> str:
    """The statement on fewer directions, of those positions that the sentences read; "" unless it is supported."""
    fact = facts.get(FEWER)
    return f"{fact.statement.removesuffix('.')} ({FEWER})." if fact is not None and fact.verdict == SUPPORTED else ""


def _lost_dimensions(facts: Facts) -> str:
    """The comparison of the cut in the small encoder with losing as many random directions of words; "" for none."""
    fact = facts.get(LOST)
    if fact is None or fact.verdict not in (SUPPORTED, CONTRADICTED):
        return ""
    pays = "for {} lost dimensions, not for keeping the two apart"
    if fact.verdict == CONTRADICTED:
        pays = "for more than {} lost dimensions"
    costs = "no more" if fact.verdict == SUPPORTED else "more"
    return (
        f"The small encoder pays {pays.format(RANK)}: along the directions that its texts read, the cut costs it "
        f"{costs} than losing {RANK} random directions of words ({LOST}).{_fewer_in_small_encoders(facts)}"
    )


def _fewer_in_small_encoders(facts: Facts) -> str:
    """The same along fewer directions, where encoders differ; "" elsewhere."""
    fact = facts.get(FEWER_LOST)
    if fact is None or fact.verdict != MIXED:
        return ""
    pays = " and ".join(f"{one.value or 0.0:.2f}" for one in fact.readings if one.standing == FAILS)
    failing = sum(one.standing == FAILS for one in fact.readings)
    return (
        f" Along 8 of them, {failing} of {len(fact.readings)} encoders {'does' if failing == 1 else 'do'} pay for it, "
        f"{pays} nats more than for random ones ({FEWER_LOST})."
    )


def _trained_on(facts: Facts, ask: Ask) -> str:
    """The part of what positions are worth to an encoder's states once it is trained on with such a cut; "" for none.

    Beside it stands the part that it recovers with a cut along random directions.
    """
    fact = facts.get(TRAINED_ON)
    if fact is None or fact.effect is None or fact.verdict not in (SUPPORTED, CONTRADICTED):
        return ""
    only = "" if fact.verdict == SUPPORTED else "only "
    control = facts.get(AT_RANDOM)
    at_random = (
        ""
        if control is None or control.effect is None or control.verdict == OPEN
        else f"; along as many random directions, {percent(1 - fact.effect - control.effect)}"
    )
    return (
        f"Cut along {RANK} directions of its first {READ} positions, {default_model.NAME} keeps{_before(ask)} what "
        f"positions are worth to the states that it gives (a loss, not sentence similarity); trained on with its "
        f"tables held fixed, {only}{percent(1 - fact.effect)}{at_random} ({plural(fact.seeds or 0, 'seed')})."
    )


def _before(ask: Ask) -> str:
    """The share that the cut leaves before any training: ` 90 % of`."""
    rows = {row["arm"]: row for row in ask(BEFORE)}
    if len(rows) < 3 or rows["minilm_separated_read"]["first"] is None:
        return " some of"
    cut, floor, intact = (rows[f"minilm_{arm}"] for arm in ("separated_read", "no_position", "intact"))
    missing = (cut["first"] - intact["last"]) / (floor["last"] - intact["last"])
    return f" {percent(1 - missing)} of"


def _others(ask: Ask, line: float | None) -> str:
    """The same cut in every other sentence encoder to which positions are worth something. line: that of the statement.

    Where they are worth less than what counts as no loss, the cut decides nothing.
    """
    return "" if line is None else "".join(_other(row, abs(line)) for row in ask(OTHERS))


def _other(row: Mapping[str, Any], kept: float) -> str:
    """The cut in one encoder. kept: the loss of a correlation below which its score counts as kept."""
    if row["intact"] - row["without"] < kept:
        return ""
    verb = "keeps its score, too" if row["intact"] - row["separated"] < kept else "loses some of its score"
    return f" {row['model']} {verb}."


def _narrow(ask: Ask) -> str:
    """The cost of as many directions to an encoder of width 128, as a share of what its positions are worth."""
    rows = ask(OWN)
    if not rows or rows[0]["separated"] is None:
        return ""
    cost, without = rows[0]["separated"], rows[0]["without"]
    size = f"{cost:.2f} nats of masked words"
    if without:
        size = f"{percent(cost / without)} of what its positions are worth on masked words"
    return f" The same cut costs one of our own encoders, of width 128, {size}."


def _narrow_in_nats(ask: Ask) -> str:
    """The same in nats, and along the directions of the positions that texts read; "" where a part is not stored."""
    rows = ask(OWN)
    if not rows or None in (rows[0]["separated"], rows[0]["along_read"], rows[0]["without"]):
        return ""
    cost, read, without = rows[0]["separated"], rows[0]["along_read"], rows[0]["without"]
    return (
        f"In our own encoder the cut costs {cost:.2f} of the {without:.2f} nats that positions are worth to it, and "
        f"{read:.2f} along the directions of the positions that its texts read."
    )


register(
    Sentence(
        name="room",
        order=30,
        claim="C10",
        link="The experiment",
        page="claims",
        values={"claim": "C10", "statement": "C10d"},
        part="reason",
        tempered_by=(
            Tempering(
                "C09c",
                CONTRADICTED,
                "Apart at the input is not apart in attention: without the cross terms of "
                "every layer, the rank correlation with people’s ratings falls by {size:.2f} in {hardest}.",
            ),
            Tempering(
                "C10l",
                CONTRADICTED,
                "In models of language positions take few directions. Of {count} models of antibody sequences, whose "
                "tokens are amino acids, {failing} give them more than half as many as a random table has.",
            ),
            Tempering(
                "C10n",
                SUPPORTED,
                "In {count} encoders of chemical reactions, which have few different tokens, too, positions take few "
                "directions: at most {share} of a random table’s. So few tokens alone are not why models of "
                "antibodies give positions more of them; there, places are nearly columns of an alignment.",
            ),
            Tempering(
                "C09g",
                CONTRADICTED,
                "In these encoders the cross terms of word and position are no small part of attention: up to "
                "{share} of what varies in the scores of a layer.",
            ),
            Tempering(
                "C11a",
                CONTRADICTED,
                "Words do not keep out of the positions’ directions in every model: in {failing} they "
                "have more of their variation in the first 20 of these than in random directions.",
            ),
        ),
        tell=tell,
    )
)
