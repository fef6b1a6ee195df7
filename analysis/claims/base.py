"""Claims: the statement in our own words, the documents that make it, and the question that it belongs to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SUPPORTED, CONTRADICTED, MIXED = "supported", "contradicted", "mixed"
INCONCLUSIVE, UNMEASURED = "inconclusive", "not yet measured"
WORDS = (SUPPORTED, CONTRADICTED, MIXED, INCONCLUSIVE, UNMEASURED)
"""The first verdicts, in the order in which they are counted."""


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document that makes claims. site: its origin, as named in the copy that we read. url: its address, if known."""

    title: str
    kind: str
    site: str
    url: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A heading of the ledger. question: key of QUESTIONS. statement: the claim in our own words.

    documents: keys of DOCUMENTS; none for a claim of our own or of the later literature, which has no statement either.
    """

    id: str
    title: str
    question: str
    statement: str = ""
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class View:
    """A page in a state: `values` are fields of that page's link."""

    label: str
    page: str
    values: Mapping[str, Any] = field(default_factory=dict)
