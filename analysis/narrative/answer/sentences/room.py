"""How little room positions take, and what it costs a trained model to keep words out of it."""

from analysis.claims.statements.base import CONTRADICTED, SUPPORTED, Ask
from analysis.core import default_model
from analysis.core.formatting import signed
from analysis.narrative.answer.base import ComputedSentence, Facts, Sentence, register

QUERY = (
    "SELECT g.value, w.hidden_size, "
    "max(s.value) FILTER (s.operation = 'intact') AS intact, "
    "max(s.value) FILTER (s.operation = 'separated' AND s.rank = 14) AS separated "
    "FROM newest_geometry g JOIN models w USING (model) LEFT JOIN newest_surgery s USING (model) "
    f"WHERE g.model = '{default_model.NAME}' AND g.measure = 'effective_rank' AND g.subject = 'position_centred' "
    "GROUP BY ALL"
)


def tell(facts: Facts, ask: Ask) -> ComputedSentence | None:
    """The effective rank of a real position table, and sentence similarity with words kept out of its directions."""
    rows = ask(QUERY)
    if not rows:
        return None
    row = rows[0]
    rank, width = round(row["value"]), row["hidden_size"]
    sentence = (
        f"The two fit into one space because position needs little room: about {rank} of {width} directions in "
        f"{default_model.NAME}."
    )
    verdict = facts["C10d"].verdict
    if row["intact"] is not None and row["separated"] is not None:
        verb = {SUPPORTED: "changes only", CONTRADICTED: "falls"}.get(verdict, "goes")
        sentence += (
            " With words forced out of 14 directions and positions into them, the sum is a true concatenation: its "
            f"sentence similarity {verb} from {row['intact']:.3f} to {row['separated']:.3f}{_narrow_encoders(facts)}."
        )
    return ComputedSentence(
        sentence=sentence,
        bold=f"{rank} of {width} directions",
        value=float(row["value"]),
        query=QUERY,
        against=verdict == CONTRADICTED,
    )


def _narrow_encoders(facts: Facts) -> str:
    """What the same costs our own encoders, which are a third as wide; empty where it costs them nothing."""
    statement = facts.get("C10h")
    if statement is None or statement.verdict != CONTRADICTED or statement.effect is None:
        return ""
    return f", but the same cut hurts our own narrow encoders (up to {signed(statement.effect)} nats)"


register(
    Sentence(
        name="room", order=30, claim="C10", link="The experiment", page="claims", values={"claim": "C10"}, tell=tell
    )
)
