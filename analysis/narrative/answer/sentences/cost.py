"""What concatenating costs."""

from analysis.claims.statements.base import SUPPORTED, Ask
from analysis.core.formatting import percent
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Parameters and operations of the wider concatenation over adding's."""
    del ask
    size, work = facts["C01a"], facts["C01b"]
    if size.effect is None or work.effect is None:
        return None
    dear = size.verdict == work.verdict == SUPPORTED
    return ComputedSentence(
        sentence=f"One shared matrix is {'cheaper' if dear else 'not much cheaper'}: concatenation at full word width "
        f"costs {percent(size.effect - 1)} more parameters and {percent(work.effect - 1)} more arithmetic per token.",
        bold="cheaper" if dear else "not much cheaper",
        value=work.effect - 1,
        query=work.query,
        against=not dear,
    )


register(
    Sentence(
        name="cost", order=20, claim="C01", link="Measured costs", page="training", values={"part": "costs"}, tell=tell
    )
)
