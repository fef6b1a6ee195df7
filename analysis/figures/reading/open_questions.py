"""The ledger at a glance: every statement that the claims make, with its verdict."""

from dataclasses import dataclass
from typing import Annotated

import pandas as pd

from analysis.claims import QUESTIONS
from analysis.claims.statements import WORDS, stored
from analysis.core.errors import NoResults
from analysis.figures.figure import Figure, Parameters, figure, one_of

ALL = "all"
TILES = 11
"""The number of tiles in one line; with more, tiles would be too narrow for their ids on a phone."""
OLD_VERDICTS = {"inconclusive": "open", "not yet measured": "open"}
"""Words of the first verdicts, which links of that time say, and what they are called today."""


class VerdictParameters(Parameters):
    """The verdict whose statements stand out, or all."""

    verdict: Annotated[str, one_of((ALL, *WORDS, *OLD_VERDICTS))]


@dataclass(frozen=True)
class StatementsContent:
    """frame: a row a statement. questions, verdicts: in the order in which they are drawn."""

    frame: pd.DataFrame
    questions: list[str]
    verdicts: list[str]


@figure("reading_open", VerdictParameters)
def reading_open(params: VerdictParameters) -> Figure[StatementsContent]:
    """One tile a statement, by the question it belongs to; those of one verdict stand out."""
    selected = OLD_VERDICTS.get(params.verdict, params.verdict)
    headings = stored.headings()
    rows = [
        {
            "id": statement.id,
            "statement": statement.statement,
            "question": QUESTIONS[heading.question],
            "verdict": statement.verdict,
            "sentence": statement.sentence,
        }
        for heading in headings
        for statement in heading.parts
    ]
    if not rows:
        raise NoResults("The store has no statements. Run: python -m analysis sync --rebuild")
    frame = pd.DataFrame(rows)
    frame = frame.assign(
        place=frame.groupby("question").cumcount() % TILES,
        line=frame.groupby("question").cumcount() // TILES,
        shown=[selected in (ALL, verdict) for verdict in frame.verdict],
    )
    text = ", ".join(f"{count} {word}" for word, count in stored.counts().items())
    matching = "; ".join(f"{row.id} {row.statement}" for row in frame[frame.shown].itertuples()) or "none"
    return Figure(
        title="Every statement and its verdict" if selected == ALL else f"The statements that are {selected}",
        finding=f"Of {len(frame)} statements, {text}",
        frame=lambda: frame[["id", "statement", "question", "verdict", "sentence"]],
        caption=(
            f"{len(frame)} statements that {len(headings)} claims make: {text}. One tile a statement, by question; the "
            "verdict is computed when the store is built."
            + (f" {selected[0].upper()}{selected[1:]}: {matching}" if selected != ALL else "")
        ),
        alt=f"Tiles, one a statement, coloured by verdict: {text}.",
        command='python -m analysis query "SELECT * FROM statements" --csv',
        provenance={"verdicts": "computed from the store by the rules of analysis/rules"},
        content=StatementsContent(frame=frame, questions=list(QUESTIONS.values()), verdicts=list(WORDS)),
    )
