"""Both can be read from the sum again."""

from analysis import embedded
from analysis.answer.base import Facts, Said, Sentence, register
from analysis.claims.said import percent
from analysis.statements.base import SUPPORTED, Ask

QUERY = (
    "SELECT target, max(value) AS value FROM newest_decoding WHERE layer = 0 AND measure IN ('top1', 'exact') "
    f"AND target IN ('word', 'position') AND model = '{embedded.NAME}' GROUP BY target"
)


def tell(facts: Facts, ask: Ask) -> Said | None:
    """Word and position decoded from the states entering layer 0 of a real model."""
    found = {row["target"]: row["value"] for row in ask(QUERY)}
    if found.keys() != {"word", "position"}:
        return None
    word, place = percent(found["word"]), percent(found["position"])
    kept = facts["C13a"].verdict == SUPPORTED
    but = "" if facts["C13b"].verdict == SUPPORTED else " In some small models position is read less well."
    return Said(
        sentence=f"{'Nothing is lost' if kept else 'Not all survives'} in the sum: a simple decoder reads the word "
        f"from it in {word} of cases and the position in {place}.{but}",
        bold="Nothing is lost" if kept else "Not all survives",
        value=found["position"],
        query=QUERY,
    )


register(
    Sentence(
        name="read_back", order=50, claim="C13", link="Decoding", page="depth", values={"part": "decoding"}, tell=tell
    )
)
