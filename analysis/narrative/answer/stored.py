"""The answer as the store has it."""

import json
from functools import lru_cache

from analysis.claims.stored import records
from analysis.narrative.front_page import Step
from analysis.store import read
from analysis.store.paths import version


def answer() -> tuple[Step, ...]:
    """The sentences in order; none where the store was built without them."""
    return _answer(version())


@lru_cache(maxsize=4)
def _answer(version: tuple[str, int, int]) -> tuple[Step, ...]:
    del version  # Only tells one store from another.
    rows = records(read.query("SELECT * FROM answers ORDER BY place"))
    return tuple(
        Step(**{k: v for k, v in row.items() if k != "parameters"}, values=json.loads(row["parameters"]))
        for row in rows
    )
