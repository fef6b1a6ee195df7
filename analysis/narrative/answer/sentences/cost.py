"""What concatenating costs."""

from analysis.claims.statements.base import SUPPORTED, Ask
from analysis.core.formatting import percent
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Parameters and operations of the wider concatenation over adding's."""
    del ask
    size, arithmetic = facts["C01a"], facts["C01b"]
    if size.effect is None or arithmetic.effect is None:
        return None
    cheaper = size.verdict == arithmetic.verdict == SUPPORTED
    return ComputedSentence(
        sentence=f"One shared matrix is {'cheaper' if cheaper else 'not much cheaper'}: concatenation at full word "
        f"width costs {percent(size.effect - 1)} more parameters and {percent(arithmetic.effect - 1)} more arithmetic "
        "per token.",
        bold="cheaper" if cheaper else "not much cheaper",
        value=arithmetic.effect - 1,
        query=arithmetic.query,
        against=not cheaper,
    )


register(
    Sentence(
        name="cost", order=20, claim="C01", link="Measured costs", page="training", values={"part": "costs"}, tell=tell
    )
)
