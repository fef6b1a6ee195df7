"""Both can be read from the sum again, and from a sum of random tables too."""

from analysis.claims.statements.judgement import FAILS, SUPPORTED, Ask
from analysis.core import default_model
from analysis.core.formatting import join_names, percent
from analysis.narrative.answer.computed_sentence import ComputedSentence, Facts, Sentence, register

QUERY = (
    "SELECT target, max(value) AS value, count(DISTINCT decoder) AS decoders FROM newest_decoding WHERE layer = 0 "
    f"AND measure IN ('top1', 'exact') AND target IN ('word', 'position') AND model = '{default_model.NAME}' "
    "GROUP BY target"
)
RANDOM = (
    "SELECT split_part(subject, '_', 1) AS target, max(value) AS value FROM newest_geometry "
    f"WHERE measure = 'decoded_random' AND model = '{default_model.NAME}' "
    "AND (subject LIKE 'word%top1' OR subject LIKE 'position%exact') GROUP BY target"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """Word and position decoded from the states entering layer 0 of a real model, and from sums of random tables."""
    rows = ask(QUERY)
    entries = {row["target"]: row["value"] for row in rows}
    if entries.keys() != {"word", "position"}:
        return None
    decoders = {row["target"]: row["decoders"] for row in rows}
    recovered = facts["C13a"].verdict == SUPPORTED
    bold = "Both can be read" if recovered else "Not all can be read"
    return ComputedSentence(
        sentence=f"{bold} from the sum of {default_model.NAME}: the best of {decoders['word']} simple decoders reads "
        f"{percent(entries['word'])} of the words that occur often, and the best of {decoders['position']} the exact "
        f"position in {percent(entries['position'])} of cases.{_elsewhere(facts)}{_at_random(ask)}",
        bold=bold,
        heading=f"{bold} from the sum",
        value=entries["position"],
        query=QUERY,
    )


def _elsewhere(facts: Facts) -> str:
    """The other models in which the exact position is read less often than its statement asks; empty without any."""
    failing = [one for one in facts["C13b"].readings if one.standing == FAILS and one.source != default_model.NAME]
    if not failing:
        return ""
    where = join_names([f"{percent(one.value)} in {one.source}" for one in failing if one.value is not None])
    return f" Elsewhere the exact position is read less often: {where}."


def _at_random(ask: Ask) -> str:
    """The same read from sums of tables of random directions; empty where that is not stored."""
    entries = {row["target"]: row["value"] for row in ask(RANDOM)}
    if entries.keys() != {"word", "position"}:
        return ""
    word, position = percent(entries["word"]), percent(entries["position"])
    return (
        f" Sums of random tables are read as well ({word} and {position}): many dimensions suffice, without training."
    )


register(
    Sentence(
        name="read_back", order=50, claim="C13", link="Decoding", page="depth", values={"part": "decoding"}, tell=tell
    )
)
