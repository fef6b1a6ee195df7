"""Figures of the ledger: every verdict at once, and the evidence on one claim."""

from dataclasses import dataclass

import pandas as pd

from analysis.claims import WORDS, stored
from analysis.claims.statements import stored as statements
from analysis.core.errors import LinkError, NoResults
from analysis.core.formatting import capitalised, plural
from analysis.figures.figure import Figure, Parameters, figure
from analysis.store import read

SIDES = {"for": "supports it", "against": "contradicts it", "beside": "is related and decides nothing"}
SIDES_PLURAL = {"for": "support it", "against": "contradict it", "beside": "are related and decide nothing"}
MAX_DRAWN = 24
"""Rows of one unit that are drawn; all of them are in the figure's data."""


class EvidenceParameters(Parameters):
    """The claim that the evidence is on."""

    claim: str = ""


@dataclass(frozen=True)
class VerdictsContent:
    """words: every verdict that could be, in the order of the columns."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class EvidenceContent:
    """drawn: the rows that are drawn, as `evidence` gives them. unit: of the effect that the rule judges.

    threshold: the line that the rule compares the effect with, in that unit; None if it compares it with none.
    """

    drawn: pd.DataFrame
    unit: str
    threshold: float | None


def _provenance() -> dict[str, str]:
    meta = read.query("SELECT built, git_sha, schema_version FROM meta").iloc[0]
    return {"store": f"built {meta.built}, code {meta.git_sha}, schema {meta.schema_version}"}


@figure("claims_verdicts", Parameters)
def claims_verdicts(_: Parameters) -> Figure[VerdictsContent]:
    """Every claim with its verdict. Raises NoResults where the store holds none."""
    entries = stored.ledger()
    if not entries:
        raise NoResults(
            "The store holds no first verdicts: they are in data/results/first_verdicts. Restore that file."
        )
    frame = pd.DataFrame(
        {
            "id": entry.id,
            "claim": f"{entry.id} {entry.title}",
            "verdict": entry.verdict,
            "sentence": entry.sentence,
            "statement": entry.statement,
            "documents": ", ".join(entry.documents),
            "measured": entry.measured,
            "effect": entry.effect,
            "low": entry.low,
            "high": entry.high,
            "unit": entry.unit,
            "threshold": entry.threshold,
            "models": ", ".join(entry.models),
            "samples": entry.samples,
            "sample_unit": entry.sample_unit,
            "for": sum(line.side == "for" for line in entry.evidence),
            "against": sum(line.side == "against" for line in entry.evidence),
        }
        for entry in entries
    )
    counts = ", ".join(f"{count} {word}" for word, count in stored.counts().items())
    return Figure(
        title="Every claim and its first verdict",
        finding=f"First verdicts: {counts}",
        frame=lambda: frame,
        caption=f"{len(frame)} claims of {len(stored.documents())} documents: {counts}. {stored.first_verdicts_note()} "
        "Version 1 of the rules was exploratory: they were written after the first runs, "
        f"and {plural(stored.changed(), 'rule')} changed since. The data behind this chart hold effects, intervals, "
        "models and numbers of samples.",
        alt=f"Table of marks, one row per claim, one column per verdict. {counts}.",
        command='python -m analysis query "SELECT * FROM claims WHERE rules_version = 1"',
        provenance=_provenance() | {"first verdicts": stored.first_verdicts_note()},
        content=VerdictsContent(WORDS),
    )


@figure("claims_statements", Parameters)
def claims_statements(_: Parameters) -> Figure[VerdictsContent]:
    """Every statement with its verdict by version 2 of the rules. Raises NoResults where the store holds none."""
    matches = statements.statements()
    if not matches:
        raise NoResults("The store holds no statements. Run: python -m analysis sync --rebuild")
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
        finding=f"Of {plural(len(frame), 'statement')}, {counts}",
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


@figure("claim_evidence", EvidenceParameters)
def claim_evidence(params: EvidenceParameters) -> Figure[EvidenceContent]:
    """The evidence on one claim that has a number, one panel per unit, with the rule's threshold.

    Raises LinkError where no claim is named or it is unknown, NoResults where no evidence on it is a number.
    """
    if not params.claim:
        raise LinkError(
            "The link names no claim, and this figure is of one. Add it to the link, as in /claims?claim=C09; "
            f"known: {', '.join(entry.id for entry in stored.ledger()) or 'none yet'}."
        )
    entry = stored.claim(params.claim)
    frame = evidence(entry)
    numbered = frame[frame.value.notna()]
    if numbered.empty:
        raise NoResults(f"There is no numerical evidence on {entry.id} yet. {entry.sentence}")
    drawn = pd.concat([_drawn_rows(group) for _, group in numbered.groupby("unit", sort=False)])
    omitted = len(numbered) - len(drawn)
    counts = {side: int((frame.side == side).sum()) for side in SIDES}
    sides = "; ".join(
        f"{plural(count, 'row')} {SIDES[side] if count == 1 else SIDES_PLURAL[side]}"
        for side, count in counts.items()
        if count
    )
    threshold = (
        f"The dashed line is the value with which the rule compares the effect ({entry.measured})."
        if entry.threshold is not None
        else ""
    )
    return Figure(
        title=f"{entry.id}: the evidence",
        finding=capitalised(sides),
        frame=lambda: frame,
        caption=" ".join(
            filter(
                None,
                (
                    f"Numbers are those of the tables below. {sides}. {stored.first_verdicts_note()}",
                    "Lines are 95 % confidence intervals, where there are any. Rows that come from a paper carry its "
                    "name.",
                    threshold,
                    f"Not drawn, but in the data: {plural(omitted, 'row')} that decide nothing." if omitted else "",
                ),
            )
        ),
        alt=f"Dot plot of the evidence on: {entry.statement} {sides}. {entry.sentence}",
        command="\n".join(f'python -m analysis query "{sql}"' for sql in entry.queries.values()),
        provenance=_provenance() | {"first verdicts": stored.first_verdicts_note()},
        citation_keys=tuple(dict.fromkeys(line.citation for line in entry.evidence if line.citation)),
        content=EvidenceContent(drawn, unit=entry.unit, threshold=entry.threshold),
    )


def evidence(entry: stored.Entry) -> pd.DataFrame:
    """A row per piece of evidence, numbered; what decides comes first, against and for alike."""
    order = {"for": 0, "against": 1, "beside": 2}
    lines = sorted(entry.evidence, key=lambda line: order[line.side])
    rows: list[dict[str, object]] = [
        {
            "number": number,
            "side": line.side,
            "says": line.says,
            "value": line.value,
            "low": line.low,
            "high": line.high,
            "unit": line.unit,
            "source": line.source,
            "kind": "published" if line.published else "measured here",
            "caveat": line.caveat,
            "query": line.query,
            "page": line.page,
            "values": line.values,
        }
        for number, line in enumerate(lines, start=1)
    ]
    columns = [
        "number",
        "side",
        "says",
        "value",
        "low",
        "high",
        "unit",
        "source",
        "kind",
        "caveat",
        "query",
        "page",
        "values",
    ]
    frame = pd.DataFrame(rows, columns=columns)
    return frame.astype(dict.fromkeys(("value", "low", "high"), float))


def _drawn_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of a unit that are drawn: all that decide, and others for as long as there is room."""
    deciding = rows[rows.side != "beside"]
    return pd.concat(
        [deciding.head(2 * MAX_DRAWN), rows[rows.side == "beside"].head(max(0, MAX_DRAWN - len(deciding)))]
    )
