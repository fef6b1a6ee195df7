"""How little room positions take."""

from analysis import embedded
from analysis.answer.base import Facts, Said, Sentence, register
from analysis.statements.base import SUPPORTED, Ask

QUERY = (
    "SELECT g.value, w.hidden_size FROM newest_geometry g JOIN models w USING (model) "
    f"WHERE g.model = '{embedded.NAME}' AND g.measure = 'effective_rank' AND g.subject = 'position_centred'"
)


def tell(facts: Facts, ask: Ask) -> Said | None:
    """The effective rank of a real position table beside the width of the model."""
    rows = ask(QUERY)
    if not rows:
        return None
    rank, width = round(rows[0]["value"]), rows[0]["hidden_size"]
    everywhere = facts["C10c"].verdict == SUPPORTED
    others = f" In all {len(facts['C10c'].readings)} models measured it is below half of a random table's." * everywhere
    return Said(
        sentence=f"Sharing a space is possible because position needs little room: the position table of "
        f"{embedded.NAME} uses about {rank} of {width} directions (its effective rank).{others}",
        bold=f"{rank} of {width} directions",
        value=float(rows[0]["value"]),
        query=QUERY,
    )


register(
    Sentence(name="room", order=30, claim="C10", link="Ranks of the tables", page="geometry", values={}, tell=tell)
)
