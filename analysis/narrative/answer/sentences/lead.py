"""The answer in one breath: the algebra of adding, its cost, and the methods that it loses to."""

from analysis.claims.statements.judgement import CONTRADICTED, SUPPORTED, Ask
from analysis.core import default_model
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, nats, register

QUERY = (
    "SELECT id, verdict FROM statements WHERE id IN ('C10d', 'C34a', 'C34b', 'C34q', 'C34r', 'C34w', 'C37b', 'C22c', "
    "'C42a')"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence:
    """Algebra first, since it needs no verdict; then the measurements, each told only if its statement is supported."""
    del ask
    bold = "A concatenation that a matrix follows is already a sum; adding uses one matrix for both parts"
    room = f", and {default_model.NAME}, cut apart, has room for both" if _holds(facts, "C10d") else ""
    return ComputedSentence(
        sentence=f"{bold}{room}.{_concatenated(facts)}{_loses(facts)}", bold=f"{bold}{room}.", value=None, query=QUERY
    )


def _concatenated(facts: Facts) -> str:
    """A sentence on concatenating at the same width, as the question proposes; "" while that is open."""
    fact = facts.get("C37b")
    if fact is None or fact.verdict != CONTRADICTED or fact.effect is None:
        return ""
    return (
        f" In our small encoders a concatenation of the same width, whose words are a fifth narrower, ended "
        f"{nats(fact.effect)} than adding."
    )


def _holds(facts: Facts, *names: str) -> bool:
    return all(name in facts and facts[name].verdict == SUPPORTED for name in names)


def _loses(facts: Facts) -> str:
    """A sentence on the methods that did better than adding positions once at the input; empty if none is supported."""
    told = _holds(facts, "C34q") or _holds(facts, "C34b")
    turned = _holds(facts, "C22c") or _holds(facts, "C42a")
    if not told and not turned:
        return ""
    # Only what is told to queries and keys gained: positions added again to the whole input of every layer did not.
    ways = ["telling positions to the queries and keys of every layer"] * told
    ways += [f"turning {'these' if told else 'the queries and keys'} by them"] * turned
    matrix = ""
    if told and _holds(facts, "C34w"):
        matrix = (
            " There, a matrix for positions beside that of words changed the final loss little, even as extra "
            "parameters."
        )
    elif told and (_holds(facts, "C34a") or _holds(facts, "C34r")):
        matrix = (
            " There, a matrix for positions beside that of words changed the final loss little at equally many "
            "parameters."
        )
    ended = " On texts as long as those of training, " + ", or ".join(ways) + "," * (len(ways) > 1)
    return (
        f"{ended} ended lower than adding {'them' if told else 'positions'} once at the input.{matrix} No paper "
        "that we read says why its designers chose to add."
    )


register(Sentence(name="lead", order=0, claim="", link="", page="", values={}, tell=tell, part="lead"))
