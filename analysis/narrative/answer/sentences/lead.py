"""The answer in one breath: why adding, how good it is, and that it is not the best way known."""

from analysis.claims.statements.base import CONTRADICTED, OPEN, SUPPORTED, Ask
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register

QUERY = "SELECT id, verdict FROM claims WHERE id IN ('C01b', 'C10c', 'C17a', 'C17b', 'C17c', 'C18d', 'C22c')"


def tell(facts: Facts, ask: Ask) -> ComputedSentence:
    """Each clause depends on its verdicts; what is open is called open."""
    del ask
    has_room = facts["C10c"].verdict == SUPPORTED
    first = "Because adding is concatenating with one matrix that word and position share"
    first += ", and the space has room for both." if has_room else "."
    splits = [facts[name].verdict for name in ("C17a", "C17b", "C17c")]
    cost = "It is cheaper" if facts["C01b"].verdict == SUPPORTED else "It is not much cheaper"
    outcomes = {
        CONTRADICTED: "and in small encoders, judged by rules fixed beforehand, none of the "
        f"{len(splits)} concatenations of the same width that we trained does better",
        OPEN: "and whether a concatenation of the same width does better is being measured",
        SUPPORTED: "but some concatenations of the same width do better",
    }
    verdict = SUPPORTED if SUPPORTED in splits else OPEN if OPEN in splits else CONTRADICTED
    improvements = [facts[name].verdict == SUPPORTED for name in ("C22c", "C18d")]
    ending = ""
    if any(improvements):
        names = [
            name
            for name, holds in zip(
                ("rotary positions", "separate attention matrices for positions"), improvements, strict=True
            )
            if holds
        ]
        ending = f" It is not the best way known: {' and '.join(names)} reach a lower loss."
    return ComputedSentence(
        sentence=f"{first} {cost}, {outcomes[verdict]}.{ending}", bold=first, value=None, query=QUERY
    )


register(Sentence(name="lead", order=0, claim="", link="", page="", values={}, tell=tell))
