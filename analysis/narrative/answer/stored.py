"""The answer as the store has it."""

import json

from analysis.claims.stored import records
from analysis.narrative.front_page import Step
from analysis.store import read
from analysis.store.paths import cached_until_store_changes


@cached_until_store_changes()
def answer() -> tuple[Step, ...]:
    """The sentences in order; none where the store was built without them."""
    rows = records(read.query("SELECT * FROM answers ORDER BY place"))
    return tuple(
        Step(**{k: v for k, v in row.items() if k != "parameters"}, values=json.loads(row["parameters"]))
        for row in rows
    )
