"""The claims as the store has them: headings with their statements, and what is said and logged of each.

Nothing is judged here, and no file of rules is read.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from analysis.claims.statements.by_id import StatementsById
from analysis.claims.statements.judgement import (
    WORDS,
    Change,
    Document,
    Judgement,
    PublishedFinding,
    Quotation,
    Reading,
    StandingRow,
)
from analysis.core import frames
from analysis.store import read
from analysis.store.paths import cached_until_store_changes, data_folder

HEADINGS = (
    "SELECT id, title, question, statement, coalesce(list(document ORDER BY document) "
    "FILTER (document IS NOT NULL), []) AS documents "
    "FROM headings LEFT JOIN claim_documents USING (id) GROUP BY ALL ORDER BY id"
)


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A claim and its parts. statement: the claim as the documents make it. documents: the ones that make it.

    Both are empty for a claim that no document makes. findings: what later work says in words. changes: its log, the
    newest first.
    """

    id: str
    title: str
    question: str
    statement: str
    documents: tuple[str, ...]
    parts: tuple[Judgement, ...]
    quotations: tuple[Quotation, ...] = ()
    findings: tuple[PublishedFinding, ...] = ()
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

    @property
    def deciding(self) -> Judgement | None:
        """The statement that decides it; None for a claim without statements."""
        return next((part for part in self.parts if part.decides), None)


def statements() -> tuple[Judgement, ...]:
    """Every statement of the store with its verdict, in order of id."""
    return tuple(by_id().values())


@cached_until_store_changes()
def by_id() -> StatementsById:
    """The same by id, also by the id of a statement that was asked again."""
    grouped: dict[str, list[Reading]] = {}
    for row in records(read.query("SELECT * FROM readings ORDER BY id, number")):
        grouped.setdefault(row["id"], []).append(Reading(**{name: row[name] for name in Reading.__dataclass_fields__}))
    rows: list[dict[str, Any]] = records(read.query("SELECT * FROM statements ORDER BY id[:3], len(id), id"))
    judged = (Judgement(**row, readings=tuple(grouped.get(row["id"], ()))) for row in rows)
    replaced = records(read.query("SELECT id, replaced_by FROM superseded WHERE replaced_by NOT IN ('withdrawn', id)"))
    return StatementsById(judged, {row["id"]: row["replaced_by"] for row in replaced})


def changes() -> tuple[Change, ...]:
    """The log of all claims, the newest day first."""
    return tuple(Change(**row) for row in records(read.query("SELECT * FROM changes ORDER BY rowid")))


def questions() -> dict[str, str]:
    """The questions by which claims are grouped, in their order: key -> question."""
    rows = records(read.query("SELECT question, title FROM questions ORDER BY place"))
    return {row["question"]: row["title"] for row in rows}


def documents() -> dict[str, Document]:
    """The documents that make the claims, by key."""
    rows = records(read.query("SELECT * FROM documents ORDER BY document"))
    return {row.pop("document"): Document(**row) for row in rows}


def parts(claim: str) -> tuple[Judgement, ...]:
    """The statements that a claim makes."""
    return tuple(judgement for judgement in statements() if judgement.parent == claim)


def counts(judgements: Iterable[Judgement] | None = None) -> dict[str, int]:
    """Verdict -> how many statements have it, of all or of some; every word, in the order of WORDS."""
    words = [judgement.verdict for judgement in (statements() if judgements is None else judgements)]
    return {word: words.count(word) for word in WORDS}


def standing(variant: str, baseline: str) -> StandingRow | None:
    """The standing of one variant against another in final loss; None if no statement of version 2 compares them.

    The ledger, the page Experiments and the guided reading all take the result for two variants of a preset from here.
    """
    return standings().get((variant, baseline))


def standings() -> dict[tuple[str, str], StandingRow]:
    """Variant and baseline -> the standing of the one against the other, as `standing` has it."""
    rows = [StandingRow(**row) for row in records(read.query("SELECT * FROM standings"))]
    return {(row.variant, row.baseline): row for row in rows}


def headings() -> tuple[Heading, ...]:
    """Every claim with its statements, in order of id; one whose statements were all withdrawn is in the log alone."""
    quoted = [
        Quotation(**{name: row[name] for name in Quotation.__dataclass_fields__})
        for row in records(read.query("SELECT * FROM quotations ORDER BY number"))
    ]
    found = [
        PublishedFinding(**{name: row[name] for name in PublishedFinding.__dataclass_fields__})
        for row in records(read.query("SELECT * FROM findings ORDER BY claim, side, short"))
    ]
    log = changes()
    return tuple(
        Heading(
            **{**row, "documents": tuple(row["documents"])},
            parts=stated,
            quotations=tuple(one for one in quoted if one.claim == row["id"]),
            findings=tuple(one for one in found if one.claim == row["id"]),
            changes=tuple(change for change in log if change.claim == row["id"]),
        )
        for row in records(read.query(HEADINGS))
        if (stated := parts(row["id"]))
    )


def first_verdicts_note() -> str:
    """A sentence on when the first verdicts were computed for the last time, and by which code; empty without any."""
    rows = records(read.query("SELECT created, git_sha FROM runs WHERE kind = 'first_verdicts'"))
    if not rows:
        return ""
    day, code = date.fromisoformat(rows[0]["created"][:10]), rows[0]["git_sha"]
    return f"They were computed by the code {code} and closed on {day.day} {day:%B %Y}."


def first_verdicts_page() -> Path:
    """The file that shows the first verdicts, version 1 of the rules; a data folder may lack it."""
    return data_folder() / "first_verdicts.html"


class LinkedStatement(NamedTuple):
    """The claim and the statement that are shown where a link names a statement."""

    claim: str
    shown: str


def linked_statements() -> dict[str, LinkedStatement]:
    """Every statement that a link may name: those that are judged, those that were, and those that wait for their runs.

    Of one that was asked again, the statement in its place is shown; of one that waits, the statement that it asks
    again.
    """
    rows = records(
        read.query(
            "SELECT id, parent, id AS shown FROM statements UNION SELECT id, parent, id FROM superseded "
            "UNION SELECT asked_again_by, parent, id FROM statements WHERE asked_again_by <> ''"
        )
    )
    judged, linked = by_id(), {}
    for row in rows:
        now = judged.get(row["shown"])
        linked[row["id"]] = LinkedStatement(now.parent, now.id) if now else LinkedStatement(row["parent"], row["shown"])
    return linked


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as mappings, with None where there is nothing."""
    return frames.records(frame.astype(object).where(frame.notna(), None))
