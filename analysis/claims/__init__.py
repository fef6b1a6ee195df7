"""The ledger of claims: what the documents say about adding positions, and what the store shows.

The claims are data in `analysis/rules`: documents, questions and claims in `documents.toml`, and, in any file there,
the headings of claims that no document makes. `analysis.claims.statements` judges the claims, one statement at a
time, when the store is built; pages read them with `analysis.claims.statements.stored`. `quotations.toml` holds the
documents' own words.

Before there were statements, version 1 of the rules judged 28 claims as wholes. Those first verdicts are closed: the
results file under `data/results/first_verdicts` holds them with their rules, queries and evidence, its run says which
code computed them and when, and `data/first_verdicts.html` shows them.

In SQL: the stable view `claims` (id, verdict, effect, lower, upper); the tables `documents`, `questions`, `headings`,
`claim_documents`, `quotations`, `statements`, `readings`, `superseded`, `changes` and `first_verdicts`; and of the
first verdicts the views `claim_rules`, `claim_queries`, `claim_views`, `verdicts` and `evidence`.
"""

import hashlib
import tomllib
from operator import itemgetter
from pathlib import Path

from analysis.claims.statements.judgement import Claim, Document, Quotation
from analysis.rules import DOCUMENTS as FILE, rule_files

__all__ = ["CLAIMS", "DOCUMENTS", "QUESTIONS", "Claim", "Document", "Quotation", "quotations", "tables"]

QUOTATIONS = Path(__file__).with_name("quotations.toml")

_files = {file.path: file.content for file in rule_files()}
QUESTIONS: dict[str, str] = _files[FILE]["questions"]
"""The questions that the page groups the claims by: key -> question."""
DOCUMENTS = {
    document["id"]: Document(**{name: value for name, value in document.items() if name != "id"})
    for document in _files[FILE]["document"]
}
"""The documents that make the claims, by the first three digits of their number."""
PLAIN_TITLES = {
    "C34": "A matrix of its own for positions gains nothing",
    "C37": "At every width concatenating loses little, and telling every layer gains",
}
"""Titles in plainer words than the frozen files', one of which is a double negative, and the other no claim."""
_headings = [heading for content in _files.values() for heading in content.get("heading", ())]
CLAIMS = {
    heading["id"]: Claim(
        **heading
        | {"documents": tuple(heading.get("documents", ())), "title": PLAIN_TITLES.get(heading["id"], heading["title"])}
    )
    for heading in sorted(_headings, key=itemgetter("id"))
}
"""Every claim by its id, in order."""


def quotations() -> tuple[Quotation, ...]:
    """The documents' own words, claim by claim, in the order of their file."""
    entries = tomllib.loads(QUOTATIONS.read_text(encoding="utf-8"))["quotation"]
    return tuple(Quotation(**entry) for entry in entries)


def _code() -> str:
    """Changes whenever the code that judges does: the statements, their rules, the statistics they rest on."""
    digest = hashlib.sha256()
    root = Path(__file__).parents[1]
    for name in ("claims", "statistics", "rules", "narrative/answer", "core/formatting.py"):
        source = root / name
        for path in sorted(source.rglob("*") if source.is_dir() else [source]):
            if path.suffix in (".py", ".toml"):
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def tables() -> dict[str, list[dict[str, object]]]:
    """Rows of the tables `documents`, `questions`, `headings`, `claim_documents` and `quotations`."""
    code = _code()
    return {
        "questions": [
            {"question": key, "title": title, "place": place} for place, (key, title) in enumerate(QUESTIONS.items())
        ],
        "quotations": [{"number": number, **vars(one)} for number, one in enumerate(quotations())],
        "documents": [{"document": key, **vars(document)} for key, document in DOCUMENTS.items()],
        "headings": [
            {
                "id": claim.id,
                "title": claim.title,
                "question": claim.question,
                "statement": claim.statement,
                "code": code,
            }
            for claim in CLAIMS.values()
        ],
        "claim_documents": [{"id": claim.id, "document": key} for claim in CLAIMS.values() for key in claim.documents],
    }
