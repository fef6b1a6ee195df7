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
        SUPPORTED: "But sharing the matrix costs something: with separate attention matrices for positions (TUPE-A) "
        f"an encoder begins to use word order after {steps.effect:.2f} times as many steps",
        CONTRADICTED: "Sharing the matrix does not delay the learning of word order: with separate attention matrices "
        f"for positions (TUPE-A) an encoder begins to use it after {steps.effect:.2f} times as many steps",
    }.get(
        steps.verdict,
        "Whether sharing the matrix delays the learning of word order is open (TUPE-A, with separate attention "
        f"matrices for positions, has begun to use it after {steps.effect:.2f} times as many steps so far)",
    )
    end = {
        SUPPORTED: f"and ends with a loss {abs(loss.effect):.2f} nats lower than adding's",
        CONTRADICTED: f"and ends with no lower loss ({signed(loss.effect)} nats)",
        OPEN: f"while the difference in final loss ({signed(loss.effect)} nats) is not resolved",
    }.get(loss.verdict, f"and ends with a loss {signed(loss.effect)} nats away")
    return ComputedSentence(
        sentence=f"{first}, {end} ({plural(steps.seeds or 0, 'seed')} each).{_all_terms(facts)}",
        bold=f"{steps.effect:.2f} times as many steps",
        value=steps.effect,
        query=steps.query,
        against=steps.verdict == SUPPORTED,
    )


def _all_terms(facts: Facts) -> str:
    """How the same sum of four terms ends where only the matrix is not shared; empty where it was not trained."""
    statement = facts.get("C08a")
    if statement is None or statement.effect is None or statement.verdict != CONTRADICTED:
        return ""
    return f" With two matrices and all four terms kept (BERT-A^d) it ends {abs(statement.effect):.2f} lower."


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
