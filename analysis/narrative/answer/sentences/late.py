"""Where adding loses: how late order is learned, and how much of it remains at the end."""

from analysis.claims.statements.base import CONTRADICTED, OPEN, SUPPORTED, Ask
from analysis.core.formatting import plural, signed
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """TUPE-A against BERT-A: steps to leave the plateau, and the final loss."""
    del ask
    steps, loss = facts["C18c"], facts["C18d"]
    if steps.effect is None or loss.effect is None:
        return None
    first = {
        SUPPORTED: "But adding learns order late: an encoder whose positions have a path of their own into attention "
        f"(TUPE-A) does so after {steps.effect:.2f} times the steps",
        CONTRADICTED: "Adding does not learn order later than a path of its own for position (TUPE-A), which takes "
        f"{steps.effect:.2f} times the steps",
    }.get(steps.verdict, f"Whether adding learns order late is open ({steps.effect:.2f} times the steps so far)")
    end = {
        SUPPORTED: f"and still ends {abs(loss.effect):.2f} nats lower",
        CONTRADICTED: f"and ends no lower ({signed(loss.effect)} nats)",
        OPEN: f"while the final loss ({signed(loss.effect)} nats) is not resolved",
    }.get(loss.verdict, f"and ends {signed(loss.effect)} nats away")
    return ComputedSentence(
        sentence=f"{first}, {end} ({plural(steps.seeds or 0, 'seed')}).",
        bold=f"{steps.effect:.2f} times the steps",
        value=steps.effect,
        query=steps.query,
        against=steps.verdict == SUPPORTED,
    )


register(
    Sentence(
        name="late",
        order=60,
        claim="C18",
        link="Training curves",
        page="training",
        values={"preset": "cpu2"},
        tell=tell,
    )
)
