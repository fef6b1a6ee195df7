"""The answer as the store has it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analysis.claims.stored import records
from analysis.store import read
from analysis.store.paths import version


@dataclass(frozen=True, kw_only=True)
class Step:
    """One sentence of the answer, with its number, the claim it rests on, and the page that shows its evidence."""

    place: int
    name: str
    sentence: str
    bold: str
    against: bool
    claim: str
    value: float | None
    query: str
    link: str
    page: str
    values: Mapping[str, Any]


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
