"""The first verdicts as the store has them: version 1 of the rules, closed. See analysis/claims/__init__.py."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

import pandas as pd

from analysis.claims.base import WORDS, Document, View
from analysis.core import frames
from analysis.core.errors import UnknownName
from analysis.store import read
from analysis.store.paths import cached_until_store_changes

ENTRIES = (
    "SELECT h.id, h.title, h.question, h.statement, v.* EXCLUDE (id, run_id), list(d.document ORDER BY d.document) "
    "AS documents FROM first_verdicts v JOIN headings h USING (id) JOIN claim_documents d USING (id) "
    "GROUP BY ALL ORDER BY h.id"
)


@dataclass(frozen=True, kw_only=True)
class EvidenceRow:
    """One piece of evidence on a claim.

    side: for, against, or beside (it decides nothing). says: the comparison in words. value, low, high: in `unit`, None
    for a missing one. source: model, variant or paper. query: the name of the claim's query that gave it.
    """

    side: str
    says: str
    value: float | None
    low: float | None
    high: float | None
    unit: str
    source: str
    citation: str | None
    caveat: str
    query: str
    page: str | None
    values: Mapping[str, Any]

    @property
    def published(self) -> bool:
        """A paper prints this number; it is not from a run of ours."""
        return self.citation is not None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One claim with its first verdict.

    asks: the measurements that decided. rule: its thresholds, with their reasons. changed: changes made to the rule
    after its verdict was known. queries: name -> SQL over the store. effect, low, high: the one number that decided
    most, in `unit`, which `measured` says in words; threshold: the line that the rule compared it with. samples: their
    number, in `sample_unit`. missing: data that the store lacked; command: makes them. views: pages with the evidence.
    """

    id: str
    title: str
    question: str
    statement: str
    asks: str
    rule: str
    changed: tuple[str, ...]
    documents: tuple[str, ...]
    queries: Mapping[str, str]
    verdict: str
    sentence: str
    effect: float | None
    low: float | None
    high: float | None
    unit: str
    measured: str
    threshold: float | None
    models: tuple[str, ...]
    samples: int
    sample_unit: str
    missing: str
    command: str
    evidence: tuple[EvidenceRow, ...]
    views: tuple[View, ...]


@cached_until_store_changes()
def ledger() -> tuple[Entry, ...]:
    """Every claim that has a first verdict in the store, in order of id."""
    return tuple(_entry(row) for row in records(read.query(ENTRIES)))


def claim(id: str) -> Entry:
    """One claim. Raises UnknownName for an id without a first verdict in the store."""
    entries = {entry.id: entry for entry in ledger()}
    if id not in entries:
        raise UnknownName(f"There is no claim named {id!r}. Known: {', '.join(entries) or 'none yet'}.")
    return entries[id]


def first_verdicts_note() -> str:
    """A sentence on when the first verdicts were computed for the last time, and by which code; empty without any."""
    rows = records(read.query("SELECT created, git_sha FROM runs WHERE kind = 'first_verdicts'"))
    if not rows:
        return ""
    day, code = date.fromisoformat(rows[0]["created"][:10]), rows[0]["git_sha"]
    return (
        f"The first verdicts were computed by the code {code} and closed on {day.day} {day:%B %Y}; they do not change."
    )


def counts() -> dict[str, int]:
    """Verdict -> how many claims have it; every word, in the order of WORDS."""
    words = [entry.verdict for entry in ledger()]
    return {word: words.count(word) for word in WORDS}


def changed() -> int:
    """The number of claims whose rule was changed after its verdict was known."""
    return sum(bool(entry.changed) for entry in ledger())


def documents() -> dict[str, Document]:
    """The documents that make the claims, by key."""
    rows = records(read.query("SELECT * FROM documents ORDER BY document"))
    return {row.pop("document"): Document(**row) for row in rows}


def _entry(row: dict[str, Any]) -> Entry:
    return Entry(
        **{
            **row,
            "changed": tuple(row["changed"]),
            "documents": tuple(row["documents"]),
            "models": tuple(row["models"]),
            "samples": int(row["samples"]),
            "queries": {item["name"]: item["sql"] for item in row["queries"]},
            "evidence": tuple(_evidence(item) for item in row["evidence"]),
            "views": tuple(
                View(label=item["label"], page=item["page"], values=_values(item["parameters"]))
                for item in row["views"]
            ),
        }
    )


def _evidence(row: dict[str, Any]) -> EvidenceRow:
    columns = {field.name: row[field.name] for field in fields(EvidenceRow) if field.name != "values"}
    return EvidenceRow(**columns, values=_values(row["parameters"]))


def _values(text: str | None) -> dict[str, object]:
    """A link's values; what JSON made a list of was a tuple."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(text or "{}").items()}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as rules take them: None where there is nothing."""
    return frames.records(frame.astype(object).where(frame.notna(), None))
