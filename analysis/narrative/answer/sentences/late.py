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
        SUPPORTED: "But adding learns word order late: an encoder with separate attention matrices for positions "
        f"(TUPE-A) needs {steps.effect:.2f} times as many steps",
        CONTRADICTED: "Adding does not learn word order later than an encoder with separate attention matrices for "
        f"positions (TUPE-A), which needs {steps.effect:.2f} times as many steps",
    }.get(
        steps.verdict,
        "Whether adding learns word order late is open (TUPE-A, with separate attention matrices "
        f"for positions, has needed {steps.effect:.2f} times as many steps so far)",
    )
    end = {
        SUPPORTED: f"and still ends with a loss {abs(loss.effect):.2f} nats lower than adding's",
        CONTRADICTED: f"and ends with no lower loss ({signed(loss.effect)} nats)",
        OPEN: f"while the difference in final loss ({signed(loss.effect)} nats) is not resolved",
    }.get(loss.verdict, f"and ends with a loss {signed(loss.effect)} nats away")
    return ComputedSentence(
        sentence=f"{first}, {end} ({plural(steps.seeds or 0, 'seed')} each).",
        bold=f"{steps.effect:.2f} times as many steps",
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
