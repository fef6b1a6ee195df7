"""The statements as the store has them: verdicts as plain objects, by the claim that they are part of."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from analysis.claims import CLAIMS
from analysis.claims import stored as first
from analysis.claims.statements.base import CONTRADICTED, MIXED, OPEN, SUPPORTED, WORDS, Judgement, Reading
from analysis.claims.statements.corrections import WITHDRAWN, StandingRow
from analysis.claims.stored import records
from analysis.core.errors import UnknownName
from analysis.store import read
from analysis.store.paths import cached_until_store_changes


@dataclass(frozen=True, kw_only=True)
class Change:
    """A statement as it was judged before. replaced_by: the statement that took its place, or `withdrawn`.

    verdict, sentence: what was found of it last; changed: why it is not judged so any more; changed_on: the day.
    """

    id: str
    parent: str
    statement: str
    verdict: str
    sentence: str
    replaced_by: str
    changed: str
    changed_on: str

    @property
    def words(self) -> str:
        """The change as a sentence or two."""
        if self.replaced_by == WITHDRAWN:
            return f"{self.changed_on}: {self.id}, “{self.statement}”, which was {self.verdict}, is withdrawn. "
            f"{self.changed}"
        return f"{self.changed_on}: {self.id} said before: “{self.statement}” It was {self.verdict}. {self.changed}"


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A claim and its parts. first: version 1's verdict on the whole; None for a claim that came after it.

    changes: statements that it had before. statement: the claim as the documents make it. documents: the ones that make
    it. Both are empty for a claim that no document makes.
    """

    id: str
    title: str
    question: str
    statement: str
    documents: tuple[str, ...]
    first: str | None
    parts: tuple[Judgement, ...]
    changes: tuple[Change, ...] = ()

    @property
    def lean(self) -> str:
        """The verdicts of its parts, counted in words: `4 of 6 supported, 1 contradicted, 1 open`."""
        counts = Counter(part.verdict for part in self.parts)
        phrases = [f"{counts[word]} {word}" for word in WORDS if counts[word]]
        if not phrases:
            return "no statement yet"
        if len(counts) == 1 and len(self.parts) > 1:
            return f"all {len(self.parts)} {self.parts[0].verdict}"
        head, *rest = phrases
        count, word = head.split(" ", 1)
        return ", ".join([f"{count} of {len(self.parts)} {word}", *rest])


@cached_until_store_changes()
def statements() -> tuple[Judgement, ...]:
    """Every statement of the store with its verdict, in order of id."""
    grouped: dict[str, list[Reading]] = {}
    for row in records(read.query("SELECT * FROM readings ORDER BY id, number")):
        grouped.setdefault(row["id"], []).append(Reading(**{name: row[name] for name in Reading.__dataclass_fields__}))
    rows: list[dict[str, Any]] = records(read.query("SELECT * FROM statements ORDER BY id"))
    return tuple(Judgement(**row, readings=tuple(grouped.get(row["id"], ()))) for row in rows)


@cached_until_store_changes()
def changes() -> tuple[Change, ...]:
    """Every statement that was corrected or withdrawn, with the verdict that it had, in order of id."""
    names = ", ".join(Change.__dataclass_fields__)
    return tuple(Change(**row) for row in records(read.query(f"SELECT {names} FROM superseded ORDER BY id")))


def statement(id: str) -> Judgement:
    """One statement. Raises UnknownName for an id that the store does not have."""
    judgements = {judgement.id: judgement for judgement in statements()}
    if id not in judgements:
        raise UnknownName(f"There is no statement named {id!r}. Known: {', '.join(judgements) or 'none yet'}.")
    return judgements[id]


def parts(claim: str) -> tuple[Judgement, ...]:
    """The statements that a claim makes."""
    return tuple(judgement for judgement in statements() if judgement.parent == claim)


def counts() -> dict[str, int]:
    """Verdict -> how many statements have it; every word, in the order of WORDS."""
    words = [judgement.verdict for judgement in statements()]
    return {word: words.count(word) for word in WORDS}


def standing(variant: str, baseline: str) -> StandingRow | None:
    """The standing of one variant against another in final loss; None if no statement of version 2 compares them.

    The ledger, the page Training and the guided reading all take the result for two variants of a preset from here.
    """
    return _standings().get((variant, baseline))


@cached_until_store_changes()
def _standings() -> dict[tuple[str, str], StandingRow]:
    rows = [StandingRow(**row) for row in records(read.query("SELECT * FROM standings"))]
    return {(row.variant, row.baseline): row for row in rows}


def headings() -> tuple[Heading, ...]:
    """Every claim with its statements, in order of id."""
    verdicts = {entry.id: entry.verdict for entry in first.ledger()}
    return tuple(
        Heading(
            **vars(claim),
            first=verdicts.get(claim.id),
            parts=parts(claim.id),
            changes=tuple(change for change in changes() if change.parent == claim.id),
        )
        for claim in CLAIMS.values()
    )


__all__ = ["CONTRADICTED", "MIXED", "OPEN", "SUPPORTED", "WORDS", "Heading", "counts", "headings", "parts", "statement"]
