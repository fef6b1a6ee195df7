"""The ledger of claims: what the documents say about adding positions, and what the store says to it.

One file a claim under `ledger/`, each registering one `Claim`: statement, documents, rule in words, SQL, and a pure
function from the rows to a `Verdict`. Verdicts are computed when the store is built (`verdicts`, called by
analysis/store_build.py with a way to ask the new store) and are typed nowhere.

How a page or a report reads it: `analysis.claims.stored` gives the store's answer as plain objects, without torch.

    from analysis.claims import stored
    for entry in stored.ledger():        # 28 of them, in order of id
        entry.id, entry.title, entry.statement, entry.question, entry.documents, entry.rule, entry.asks
        entry.changed                    # what was changed in the rule after its verdict was known, and why
        entry.verdict                    # one of WORDS: supported, contradicted, mixed, inconclusive, not yet measured
        entry.sentence                   # one or more sentences, made of numbers
        entry.effect, entry.low, entry.high, entry.unit, entry.measured, entry.threshold   # None where there is none
        entry.models, entry.samples, entry.sample_unit, entry.missing, entry.command
        entry.evidence                   # rows: side (for, against, beside), says, value, low, high, unit, source,
                                         # citation (None: our own), caveat, query (its name), page, values
        entry.queries                    # name -> SQL, runnable with `python -m analysis query`
        entry.views                      # label, page, values: `analysis.links.link(page, values)` is the address
    stored.claim("C09")                  # one of them; UnknownName for another id
    stored.documents()                   # key -> title, kind, site, url
    stored.counts()                      # verdict -> how many, all five words, in the order of WORDS

In SQL: the stable view `claims` (id, verdict, effect, lower, upper), and the tables `claim_rules`, `claim_documents`,
`claim_queries`, `claim_views`, `verdicts`, `evidence`, `documents`.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

from analysis.claims.base import CLAIMS, QUESTIONS, WORDS, Claim, Evidence, Verdict, View
from analysis.claims.documents import DOCUMENTS
from analysis.claims.judging import verdicts
from analysis.core.registry import import_all

__all__ = ["CLAIMS", "DOCUMENTS", "QUESTIONS", "WORDS", "Claim", "Evidence", "Verdict", "View", "rules", "verdicts"]

import_all("analysis.claims.ledger")


@cache
def _code() -> str:
    """Changes whenever the code that judges does: the claims, their helpers, the statistics they rest on."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for part in ("claims", "statistics", "glue_comparison", "rules", "narrative/answer", "core/formatting.py"):
        inside = root / part
        for path in sorted(inside.rglob("*") if inside.is_dir() else [inside]):
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def rules() -> dict[str, list[dict[str, Any]]]:
    """What the registry knows, as rows of the store's tables: documents, rules and queries."""
    claims = [claim for _, claim in sorted(CLAIMS.items())]
    return {
        "documents": [
            {"document": key, "title": one.title, "kind": one.kind, "site": one.site, "url": one.url}
            for key, one in DOCUMENTS.items()
        ],
        "claim_rules": [
            {
                "id": claim.id,
                "title": claim.title,
                "question": claim.question,
                "statement": claim.statement,
                "asks": claim.asks,
                "rule": claim.rule,
                "changed": list(claim.changed),
                "code": _code(),
            }
            for claim in claims
        ],
        "claim_documents": [{"id": claim.id, "document": key} for claim in claims for key in claim.documents],
        "claim_queries": [
            {"id": claim.id, "name": name, "sql": sql} for claim in claims for name, sql in claim.queries.items()
        ],
    }
