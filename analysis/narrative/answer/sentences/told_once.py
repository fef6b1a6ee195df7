"""The case in which adding loses: positions given once at the input, against positions given to every layer."""

from analysis.claims.statements.base import SUPPORTED, Ask
from analysis.core.formatting import percent, plural
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, fixed_sentences, register

FACTORS = tuple(f"C34{letter}" for letter in "abcdefghijklmnop")
"""Statements that compare variants with a single difference."""
TOLD = ("C34b", "C34a", "C34p", "C34o", "C34c", "C34f", "C34d", "C34n")
"""The statements, of these, that Home tells, in this order; the others are on the page Claims."""


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The gain from untying, which a matrix of its own for positions does not explain."""
    del ask
    shared, own = facts["C34q"], facts["C34r"]
    if shared.effect is None or own.effect is None:
        return None
    if shared.verdict != SUPPORTED:
        return None
    steps = facts["C18e"]
    order = ""
    if steps.verdict == SUPPORTED and steps.effect is not None:
        order = f", and begin to use word order in {percent(steps.effect)} of the steps"
    matrix = (
        f" A matrix of its own for positions (TUPE-A) ends no lower: {abs(own.effect):.3f} nats between the two."
        if own.verdict == SUPPORTED
        else f" Whether a matrix of its own adds to that is not resolved ({abs(own.effect):.3f} nats between the two)."
    )
    # The stored contrast differs in more than how often positions are told; only C34b isolates that.
    isolated = "C34b" in facts and facts["C34b"].verdict == SUPPORTED
    bold = (
        "Telling positions once, at the input, costs something"
        if isolated
        else "Adding once, at the input, does not end lowest"
    )
    return ComputedSentence(
        sentence=f"{bold}: encoders that tell positions to the queries and keys of every layer, through the words' own "
        f"matrix and without cross terms, end {abs(shared.effect):.2f} nats lower{order} "
        f"({plural(shared.seeds or 0, 'seed')} each).{matrix}{_causes(facts)}",
        bold=bold,
        heading="It is not the best way",
        value=shared.effect,
        query=shared.query,
        against=True,
    )


def _causes(facts: Facts) -> str:
    """Outcomes of the contrasts in which only one thing differs, in the words that were fixed before their runs."""
    if decided := fixed_sentences(facts, TOLD):
        return f" One thing at a time: {decided}"
    waiting = sum(name in facts for name in FACTORS)
    return f" What of this gains is being trained, one difference at a time ({plural(waiting, 'statement')})."


register(
    Sentence(
        name="told_once",
        order=60,
        claim="C34",
        link="One thing at a time",
        page="claims",
        values={"claim": "C34", "statement": "C34q"},
        part="but",
        tempered_by=("C22e", "C19a", "C30d"),
        tell=tell,
    )
)
