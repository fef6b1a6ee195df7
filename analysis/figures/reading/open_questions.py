"""The ledger at a glance: every statement that the claims make, with its verdict."""

from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd

from analysis.claims import QUESTIONS
from analysis.claims.statements import WORDS, stored
from analysis.core.colours import VERDICTS
from analysis.core.errors import NoResults
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, one_of

ALL = "all"
TILES = 16
"""The number of tiles in one line; with more, tiles would be too narrow for their signs on a phone."""
ROW = 25
"""Pixels of a line."""
SIGNS = {"supported": "✓", "contradicted": "✗", "mixed": "≈", "open": "○"}
"""Verdict -> the sign that says it without its colour."""
OLD_VERDICTS = {"inconclusive": "open", "not yet measured": "open"}
"""Words of the first verdicts, which links of that time say, and what they are called today."""


class VerdictParameters(Parameters):
    """The verdict whose statements stand out, or all."""

    verdict: Annotated[str, one_of((ALL, *WORDS, *OLD_VERDICTS))]


@figure("reading_open", VerdictParameters)
def reading_open(params: VerdictParameters) -> Figure:
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
    frame = frame.assign(shown=[selected in (ALL, verdict) for verdict in frame.verdict])
    text = ", ".join(f"{count} {word}" for word, count in stored.counts().items())
    matching = "; ".join(f"{row.id} {row.statement}" for row in frame[frame.shown].itertuples()) or "none"
    return Figure(
        title="Every statement and its verdict" if selected == ALL else f"The statements that are {selected}",
        finding=f"Of {len(frame)} statements, {text}",
        frame=lambda: frame[["id", "statement", "question", "verdict", "sentence"]],
        caption=(
            f"{len(frame)} statements that {len(headings)} claims make: {text}. One tile a statement, under the "
            "question it helps to answer; the verdict is computed when the store is built."
            + (f" {selected[0].upper()}{selected[1:]}: {matching}" if selected != ALL else "")
        ),
        alt=f"Tiles, one a statement, coloured by verdict: {text}.",
        command='python -m analysis query "SELECT * FROM statements" --csv',
        provenance={"verdicts": "computed from the store by the rules of analysis/rules"},
        draw=lambda theme: [_draw(frame, theme)],
    )


def _draw(frame: pd.DataFrame, theme: Theme) -> Chart:
    """The questions, each above its tiles, which say their verdicts by colour and sign."""
    headings, tiles, row = [], [], 0
    for question in QUESTIONS.values():
        part = frame[frame.question == question]
        if part.empty:
            continue
        headings.append({"row": row, "question": question})
        number = np.arange(len(part))
        tiles.append(part.assign(row=row + 1 + number // TILES, place=number % TILES))
        row += 2 + (len(part) - 1) // TILES
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=list(range(row))))
    names = {word: f"{sign} {word}" for word, sign in SIGNS.items()}
    every = pd.concat(tiles)
    every = every.assign(sign=every.verdict.map(SIGNS), name=every.verdict.map(names))
    base = alt.Chart(every).encode(
        x=alt.X("place:O", axis=None, scale=alt.Scale(domain=list(range(TILES)))),
        y=y,
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.18)),
        tooltip=marks.tips("id", "statement", "verdict", ("sentence", "why")),
    )
    hues = {name: theme.colour(VERDICTS[word]) for word, name in names.items()}
    cells = base.mark_rect(stroke=theme.ground, strokeWidth=3, cornerRadius=4)
    cells = cells.encode(color=marks.hues("name", hues, marks.legend(place="top", columns=4)))
    signs = base.mark_text(fontSize=marks.TEXT, fontWeight="bold", color=theme.ground).encode(text="sign:N")
    text = alt.Chart(pd.DataFrame(headings)).mark_text(
        align="left", baseline="middle", dy=4, fontSize=marks.PANEL_TITLE, fontWeight="bold", color=theme.ink
    )
    questions = text.encode(x=alt.value(0), y=y, text="question:N")
    return marks.panel(cells, signs, questions, theme=theme, width=marks.WIDE, height=ROW * row)
