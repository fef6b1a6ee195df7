"""The answer as the store has it."""

import json

from pydantic import TypeAdapter

from analysis.claims.statements.stored import records
from analysis.narrative.front_page import AnswerStep
from analysis.store import read

STEPS = TypeAdapter(tuple[AnswerStep, ...])


def answer() -> tuple[AnswerStep, ...]:
    """The sentences in order; none where the store was built without them."""
    rows = records(read.query("SELECT * EXCLUDE parameters, parameters AS values FROM answers ORDER BY place"))
    return STEPS.validate_python(
        [row | {name: json.loads(row[name]) for name in ("values", "tempered_by")} for row in rows]
    )
