"""Figures of the ledger: every verdict at once, and the measurements of one claim's statements on turned strips."""

from dataclasses import dataclass

import pandas as pd

from analysis.claims.statements import stored as statements
from analysis.claims.statements.base import Judgement
from analysis.claims.statements.deciding import RULE
from analysis.core.errors import LinkError, NoResults
from analysis.figures.claims.size import size
from analysis.figures.claims.strip import strip
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

EMPTY = "The store holds no statements. Run: python -m analysis sync --rebuild"


class ClaimParameters(Parameters):
    """The claim whose statements are drawn; empty for the deciding statement of every claim."""

    claim: str = ""


@dataclass(frozen=True)
class VerdictsContent:
    """words: every verdict that could be, in the order of the columns."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class StripsContent:
    """drawn: a row a statement, with its places on the strip. others: a row for each other reading."""

    drawn: pd.DataFrame
    others: pd.DataFrame


def _provenance() -> dict[str, str]:
    meta = read.query("SELECT built, git_sha, schema_version FROM meta").iloc[0]
    return {"store": f"built {meta.built}, code {meta.git_sha}, schema {meta.schema_version}"}


@figure("claims_statements", Parameters)
def claims_statements(_: Parameters) -> Figure[VerdictsContent]:
    """Every statement with its verdict. Raises NoResults where the store holds none."""
    matches = statements.statements()
    if not matches:
        raise NoResults(EMPTY)
    frame = pd.DataFrame(
        {
            "id": statement.id,
            "claim": f"{statement.id} {statement.statement}",
            "verdict": statement.verdict,
            "sentence": statement.sentence,
            "scope": statement.scope,
            "effect": statement.effect,
            "low": statement.low,
            "high": statement.high,
            "unit": statement.unit,
            "line": statement.line,
            "for": sum(reading.standing == "holds" for reading in statement.readings),
            "against": sum(reading.standing == "fails" for reading in statement.readings),
            "readings": len(statement.readings),
            "would_decide": statement.would_decide,
            "rules_version": statement.rules_version,
            "rules_sha": statement.rules_sha,
        }
        for statement in matches
    )
    counts = ", ".join(f"{count} {word}" for word, count in statements.counts().items())
    return Figure(
        title="Every statement and its verdict",
        finding=f"Of {len(frame)} statements, {counts}",
        frame=lambda: frame,
        caption=f"{len(frame)} statements, each about one scope and judged by one rule: {counts}. The rules for our "
        "own trainings were frozen before those trainings began; the rules for other measurements were written "
        "when most of these were known. The data behind this chart hold effects, intervals and what would decide "
        "an open statement.",
        alt=f"Table of marks, one row per statement, one column per verdict. {counts}.",
        command='python -m analysis query "SELECT * FROM statements"',
        provenance=_provenance(),
        content=VerdictsContent(statements.WORDS),
    )


@figure("claim_strips", ClaimParameters)
def claim_strips(params: ClaimParameters) -> Figure[StripsContent]:
    """The statements of one claim, or the deciding ones of all, each on a strip with its rule's line in the middle.

    Raises LinkError for an unknown claim, NoResults where the store holds no statements.
    """
    headings = {heading.id: heading for heading in statements.headings()}
    if not any(heading.parts for heading in headings.values()):
        raise NoResults(EMPTY)
    if params.claim and params.claim not in headings:
        raise LinkError(f"There is no claim {params.claim!r}. Known: {', '.join(headings)}.")
    shown = [headings[params.claim]] if params.claim else list(headings.values())
    parts = [part for heading in shown for part in heading.parts if params.claim or part.decides]
    frame = pd.DataFrame(map(_row, parts))
    strips = {part.id: strip(part) for part in parts}
    others = [{"id": id, "other": place} for id, one in strips.items() if one for place in one.others]
    title = "The statement that decides each claim"
    counts = {word: sum(part.verdict == word for part in parts) for word in statements.WORDS}
    finding = "Of the statements that decide, " + ", ".join(f"{count} {word}" for word, count in counts.items())
    if params.claim:
        heading = headings[params.claim]
        title, finding = f"{heading.id}. {heading.title}", f"{heading.title}: {heading.lean}"
    return Figure(
        title=title,
        finding=finding,
        frame=lambda: frame,
        caption="Each strip is turned so that its rule's line is in the middle and the right side speaks for the "
        "claim; each has a scale of its own, and its number is printed. A bar is a 95 % confidence interval; a "
        "number without one is exact. Small dots are the other readings that the same line judges. "
        f"{'' if params.claim else RULE}".strip(),
        alt=f"Strips, one a statement. {finding}.",
        command="python -m analysis query "
        f'"SELECT * FROM statements WHERE {f"parent = {params.claim!r}" if params.claim else "decides"}"',
        provenance=_provenance(),
        content=StripsContent(drawn=frame, others=pd.DataFrame(others, columns=["id", "other"])),
    )


def _row(part: Judgement) -> dict[str, object]:
    """A statement with its numbers, what the rule compares them with, and its places on the strip."""
    places, printed = strip(part), size(part)
    return {
        "id": part.id,
        "statement": part.statement,
        "verdict": part.verdict,
        "printed": f"{printed.number} {printed.unit}".strip() or "not measured yet",
        "effect": part.effect,
        "low": part.low,
        "high": part.high,
        "unit": part.unit,
        "supported_from": part.lower,
        "supported_to": part.upper,
        "opposes": bool(part.opposes),
        "place": places.value if places else None,
        "place_low": places.low if places else None,
        "place_high": places.high if places else None,
        "sentence": part.sentence,
    }
