"""The cards under the answer: the certain, the measured and the open, each with its numbers."""

import pandas as pd

from analysis.claims.statements import stored as statements
from analysis.claims.statements.base import CONTRADICTED, OPEN, SUPPORTED
from analysis.core import default_model, frames
from analysis.core.formatting import power_of_ten
from analysis.narrative.answer.stored import answer
from analysis.narrative.front_page import Bar, Card, FrontPage, Separated
from analysis.store import read

OPERATIONS = {
    "intact": "as trained",
    "separated": "made a concatenation",
    "mean_position": "no position",
    "permuted": "positions shuffled",
}
"""The operations of the surgery that are shown -> their names in a few words."""


def front_page() -> FrontPage:
    """The content of Home, computed from the store."""
    return FrontPage(steps=answer(), cards=cards(), apart=separated())


def separated() -> Separated | None:
    """The surgery of the default model at 14 directions; None where it is not stored."""
    entries = {row.operation: row.value for row in frames.rows(_operations())}
    width = read.query("SELECT hidden_size FROM models WHERE model = ?", [default_model.NAME])
    if not {"intact", "separated"} <= entries.keys() or width.empty:
        return None
    return Separated(
        rank=14, width=int(width.hidden_size.iloc[0]), intact=entries["intact"], separated=entries["separated"]
    )


def cards() -> tuple[Card, ...]:
    """The three cards in order; a card whose numbers are not stored is left out."""
    return tuple(card for card in (_certain(), _measured(), _open()) if card is not None)


def _certain() -> Card | None:
    step = next((step for step in answer() if step.name == "algebra"), None)
    if step is None or step.value is None:
        return None
    return Card(
        kind="certain",
        sentence="Adding is concatenating with the two blocks of the matrix tied together. Checked to an error below "
        f"{power_of_ten(step.value)}.",
        link=step.link,
        page=step.page,
        values=step.values,
    )


def _operations() -> pd.DataFrame:
    return read.query(
        "SELECT operation, avg(value) AS value FROM newest_surgery WHERE model = ? AND coalesce(rank, 14) = 14 "
        "GROUP BY operation",
        [default_model.NAME],
    )


def _measured() -> Card | None:
    entries = {row.operation: float(row.value) for row in frames.rows(_operations())}
    if not OPERATIONS.keys() <= entries.keys():
        return None
    verdict = next((statement.verdict for statement in statements.parts("C10") if statement.id == "C10d"), OPEN)
    texts = {
        SUPPORTED: "A real model judges sentence similarity as well as before when its sum is made a concatenation "
        "(correlation with people's ratings).",
        CONTRADICTED: "A real model judges sentence similarity less well when its sum is made a concatenation "
        "(correlation with people's ratings).",
    }
    return Card(
        kind="measured",
        sentence=texts.get(
            verdict,
            "How well a real model judges sentence similarity when its sum is made a concatenation "
            "(correlation with people's ratings).",
        ),
        link="The experiment",
        page="claims",
        values={"claim": "C10"},
        bars=tuple(
            Bar(name=name, value=entries[key], text=f"{entries[key]:.3f}", strong=key in ("intact", "separated"))
            for key, name in OPERATIONS.items()
        ),
    )


def _open() -> Card | None:
    counts = statements.counts()
    total = sum(counts.values())
    if not total:
        return None
    return Card(
        kind="open",
        sentence=f"{counts[OPEN]} of {total} statements are not decided yet. Each names the experiment that would "
        "decide it.",
        link="What would decide them",
        page="claims",
        values={"verdict": OPEN, "by": "verdict"},
        bars=tuple(
            Bar(name=word, value=count / total, text=str(count), strong=word == OPEN) for word, count in counts.items()
        ),
    )
