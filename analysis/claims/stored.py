"""The ledger as the store has it: rules, verdicts and evidence as plain objects. See analysis/claims/__init__.py."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from analysis.claims.base import UNMEASURED, WORDS, View
from analysis.claims.documents import Document
from analysis.core.errors import UnknownName
from analysis.literature.tables import Frame
from analysis.store import read
from analysis.store.paths import version


@dataclass(frozen=True, kw_only=True)
class EvidenceRow:
    """One row of evidence; the fields are those of `Evidence`."""

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
        """Whether a paper prints it, rather than a run of ours."""
        return self.citation is not None


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One claim with its verdict; the fields are those of `Claim` and `Verdict`."""

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


def ledger() -> tuple[Entry, ...]:
    """Every claim of the store with its verdict, in order of id."""
    return _ledger(version())


def claim(id: str) -> Entry:
    """One claim. Raises UnknownName for an id that the store does not have."""
    entries = {entry.id: entry for entry in ledger()}
    if id not in entries:
        raise UnknownName(f"There is no claim named {id!r}. Known: {', '.join(entries) or 'none yet'}.")
    return entries[id]


def counts() -> dict[str, int]:
    """Verdict -> how many claims have it; every word, in the order of WORDS."""
    words = [entry.verdict for entry in ledger()]
    return {word: words.count(word) for word in WORDS}


def changed() -> int:
    """How many claims have a rule that was changed after its verdict was known."""
    return sum(bool(entry.changed) for entry in ledger())


def documents() -> dict[str, Document]:
    """The documents that make the claims, by key."""
    rows = records(read.query("SELECT * FROM documents ORDER BY document"))
    return {
        row["document"]: Document(title=row["title"], kind=row["kind"], site=row["site"], url=row["url"])
        for row in rows
    }


@lru_cache(maxsize=4)
def _ledger(version: tuple[str, int, int]) -> tuple[Entry, ...]:
    del version  # Only tells one store from another.
    rules = records(read.query("SELECT * EXCLUDE (code) FROM claim_rules ORDER BY id"))
    judged = {row.pop("id"): row for row in records(read.query("SELECT * FROM verdicts"))}
    texts, request = _grouped("claim_documents", "document"), _grouped("claim_queries", "rowid")
    lines, seen = _grouped("evidence", "number"), _grouped("claim_views", "number")
    return tuple(
        Entry(
            **{**rule, "changed": tuple(rule["changed"])},
            **_verdict(judged.get(rule["id"], {})),
            documents=tuple(row["document"] for row in texts.get(rule["id"], ())),
            queries={row["name"]: row["sql"] for row in request.get(rule["id"], ())},
            evidence=tuple(_line(row) for row in lines.get(rule["id"], ())),
            views=tuple(
                View(label=row["label"], page=row["page"], values=_values(row["parameters"]))
                for row in seen.get(rule["id"], ())
            ),
        )
        for rule in rules
    )


def _verdict(row: dict[str, Any]) -> dict[str, Any]:
    if not row:  # A store that was built without judging, as tests build some.
        empty: dict[str, Any] = dict.fromkeys(("effect", "low", "high", "threshold"))
        texts = dict.fromkeys(("sentence", "unit", "measured", "sample_unit", "missing", "command"), "")
        return {"verdict": UNMEASURED, "models": (), "samples": 0, **empty, **texts}
    return {**row, "models": tuple(row["models"]), "samples": int(row["samples"])}


def _line(row: dict[str, Any]) -> EvidenceRow:
    kept = {name: row[name] for name in EvidenceRow.__dataclass_fields__ if name != "values"}
    return EvidenceRow(**kept, values=_values(row["parameters"]))


def _values(text: str | None) -> dict[str, Any]:
    """A link's values; what JSON made a list of was a tuple."""
    return {name: tuple(v) if isinstance(v, list) else v for name, v in json.loads(text or "{}").items()}


def _grouped(table: str, order: str) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in records(read.query(f"SELECT * FROM {table} ORDER BY id, {order}")):
        grouped.setdefault(row["id"], []).append(row)
    return grouped


def records(frame: Frame) -> list[dict[str, Any]]:
    """Rows as rules take them: None where there is nothing."""
    whole = frame.astype(object)
    return whole.where(frame.notna(), None).to_dict("records")
