"""Both can be read from the sum again."""

from analysis.claims.statements.base import SUPPORTED, Ask
from analysis.core import default_model
from analysis.core.formatting import percent
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register

QUERY = (
    "SELECT target, max(value) AS value, count(DISTINCT decoder) AS decoders FROM newest_decoding WHERE layer = 0 "
    f"AND measure IN ('top1', 'exact') AND target IN ('word', 'position') AND model = '{default_model.NAME}' "
    "GROUP BY target"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Word and position decoded from the states entering layer 0 of a real model."""
    rows = ask(QUERY)
    entries = {row["target"]: row["value"] for row in rows}
    if entries.keys() != {"word", "position"}:
        return None
    word, position = percent(entries["word"]), percent(entries["position"])
    recovered = facts["C13a"].verdict == SUPPORTED
    bold = "Both can be read" if recovered else "Not all can be read"
    exception = "" if facts["C13b"].verdict == SUPPORTED else " In some small models the position is read less well."
    return ComputedSentence(
        sentence=f"{bold} from the sum of {default_model.NAME}: the best of {max(row['decoders'] for row in rows)} "
        f"simple decoders reads the word in {word} of cases, and the exact position in {position}.{exception}",
        bold=bold,
        value=entries["position"],
        query=QUERY,
    )


register(
    Sentence(
        name="read_back", order=50, claim="C13", link="Decoding", page="depth", values={"part": "decoding"}, tell=tell
    )
)
