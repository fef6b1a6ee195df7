"""Statements and the verdicts that rules of version 2 give on them. Numbers are in `unit`; None for a missing one."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

SUPPORTED, CONTRADICTED, MIXED, OPEN = "supported", "contradicted", "mixed", "open"
WORDS = (SUPPORTED, CONTRADICTED, MIXED, OPEN)
HOLDS, FAILS = "holds", "fails"

Ask = Callable[[str], list[dict[str, Any]]]
"""A SELECT -> its rows; what is missing or not a number is None."""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """One row that bears on a statement: a model, a pair of variants at one seed, a row of a published table.

    standing: `holds`, `fails` or `open`. line: the number that the value is compared with. citation: the key of the
    paper that prints it; None for our own.
    """

    source: str
    standing: str
    value: float | None
    low: float | None = None
    high: float | None = None
    line: float | None = None
    family: str = ""
    citation: str | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """The verdict on one statement, with the readings it rests on.

    effect, low, high: the number that decides most. sentence: the finding in words. would_decide: for an open
    statement, the experiment that would decide it, with its seeds and hours. answer: the sentence that the rules said
    beforehand would be told of this verdict; empty where they said none.
    """

    id: str
    parent: str
    statement: str
    scope: str
    kind: str
    verdict: str
    sentence: str
    unit: str
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    line: float | None = None
    seeds: int | None = None
    would_decide: str = ""
    command: str = ""
    page: str = ""
    query: str = ""
    rules_version: int
    rules_sha: str
    exploratory: bool
    answer: str = ""
    readings: tuple[Reading, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.verdict not in WORDS:
            raise ValueError(f"{self.verdict!r} is not a verdict; expected one of: {', '.join(WORDS)}.")
        if self.verdict == OPEN and not self.would_decide:
            raise ValueError(f"{self.id} is open and does not say what would decide it.")
