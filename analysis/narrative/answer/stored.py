"""The answer as the store has it."""

import json

from analysis.claims.statements.stored import records
from analysis.narrative.front_page import AnswerStep, Limit
from analysis.store import read


def answer() -> tuple[AnswerStep, ...]:
    """The sentences in order; none where the store was built without them."""
    rows = records(read.query("SELECT * FROM answers ORDER BY place"))
    return tuple(
        AnswerStep(
            **{name: value for name, value in row.items() if name not in ("parameters", "tempered_by")},
            values=json.loads(row["parameters"]),
            tempered_by=tuple(Limit(**limit) for limit in json.loads(row["tempered_by"])),
        )
        for row in rows
    )
