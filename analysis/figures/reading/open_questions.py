"""The ledger at a glance: every statement that the claims make, with its verdict."""

from collections.abc import Sequence
from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd

from analysis.claims import QUESTIONS
from analysis.claims.statements import SIGNS, WORDS, stored
from analysis.claims.statements.base import Judgement
from analysis.core.colours import VERDICTS
from analysis.core.errors import NoResults
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, one_of

ALL = "all"
ROW = 22
"""Pixels of a line."""
TILE = 300
"""Area of the square that says a verdict, in square pixels."""
TILE_WIDTH = 26
"""Pixels from the left edge to a title."""
WITH_COUNTS = "width > 480"
"""Vega's test of a width that has room for the counts beside the titles, which a phone does not have."""
COUNTS = 160
"""Pixels at the right that the counts of a claim's verdicts take."""
SIDES = {"supported": "for", "contradicted": "against", "mixed": "mixed", "open": "open"}
"""Words for verdicts on a claim where several are counted."""
OLD_VERDICTS = {"inconclusive": "open", "not yet measured": "open"}
"""Words of the first verdicts, which links of that time say, and what they are called today."""


class VerdictParameters(Parameters):
    """The verdict whose statements stand out, or all."""

    verdict: Annotated[str, one_of((ALL, *WORDS, *OLD_VERDICTS))]


@figure("reading_open", VerdictParameters)
def reading_open(params: VerdictParameters) -> Figure:
    """One line a claim, under the question it belongs to; those with a statement of one verdict stand out."""
    selected = OLD_VERDICTS.get(params.verdict, params.verdict)
    headings = stored.headings()
    rows = [
        {
            "id": statement.id,
            "claim": heading.id,
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
            f"{len(frame)} statements that {len(headings)} claims make: {text}. One line a claim, under the question "
            "that it helps to answer: in the square what its deciding statement says of it, at the right how many "
            "of its statements speak for and against it. Verdicts are computed when the store is built."
            + (f" {selected[0].upper()}{selected[1:]}: {matching}" if selected != ALL else "")
        ),
        alt=f"A line a claim, with the verdicts on its statements: {text}.",
        command='python -m analysis query "SELECT * FROM statements" --csv',
        provenance={"verdicts": "computed from the store by the rules of analysis/rules"},
        draw=lambda theme: [_draw(frame, headings, theme)],
    )


def _on_the_claim(statement: Judgement) -> str:
    """The verdict on a claim that follows from one of its statements, which may say the opposite of it."""
    turned = {"supported": "contradicted", "contradicted": "supported"} if statement.opposes else {}
    return turned.get(statement.verdict, statement.verdict)


def _claims(frame: pd.DataFrame, headings: Sequence[stored.Heading]) -> pd.DataFrame:
    """A row a claim, under the row of its question: its title, its deciding verdict, and the verdicts of its parts."""
    rows: list[dict[str, object]] = []
    for question in QUESTIONS:
        claims = [heading for heading in headings if heading.question == question and heading.parts]
        if claims:
            rows.append({"question": QUESTIONS[question], "shown": True})
        for heading in claims:
            parts = frame[frame.claim == heading.id]
            verdict = _on_the_claim(heading.deciding or heading.parts[0])
            said = [_on_the_claim(part) for part in heading.parts]
            rows.append(
                {
                    "title": heading.title,
                    "verdict": verdict,
                    "sign": SIGNS[verdict],
                    "counts": ", ".join(
                        f"{count} {word}" for verdict, word in SIDES.items() if (count := said.count(verdict))
                    ),
                    "statements": "; ".join(f"{row.id} {row.verdict}" for row in parts.itertuples()),
                    "shown": bool(parts.shown.any()),
                }
            )
    return pd.DataFrame(rows).assign(row=np.arange(len(rows)))


def _draw(frame: pd.DataFrame, headings: Sequence[stored.Heading], theme: Theme) -> Chart:
    """The claims under their questions: the sign of the deciding statement, the title, and the counts at the right."""
    every = _claims(frame, headings)
    y = alt.Y("row:O", axis=None, scale=alt.Scale(domain=every.row.tolist()))
    names = {word: f"{sign} {word}" for word, sign in SIGNS.items()}
    claims = every[every.title.notna()].assign(name=every.verdict.map(names))
    base = alt.Chart(claims).encode(
        y=y,
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.25)),
        tooltip=marks.tips(("title", "claim"), ("verdict", "by its deciding statement"), "statements"),
    )
    hues = {name: theme.colour(VERDICTS[word]) for word, name in names.items()}
    tiles = base.mark_point(shape="square", filled=True, size=TILE, opacity=1, xOffset=9).encode(
        x=alt.value(0), color=marks.hues("name", hues, marks.legend(place="top", columns=4))
    )
    signs = base.mark_text(fontSize=marks.TEXT, fontWeight="bold", color=theme.ground, xOffset=9).encode(
        x=alt.value(0), text="sign:N"
    )
    titles = base.mark_text(
        align="left",
        fontSize=marks.TEXT,
        color=theme.ink,
        xOffset=TILE_WIDTH,
        limit=alt.ExprRef(f"width - {TILE_WIDTH} - ({WITH_COUNTS} ? {COUNTS} : 0)"),
    ).encode(x=alt.value(0), text="title:N")
    counts = base.mark_text(
        align="right", fontSize=marks.TEXT, color=theme.ink, fillOpacity=alt.ExprRef(f"{WITH_COUNTS} ? 1 : 0")
    ).encode(x=alt.value("width"), text="counts:N")
    questions = alt.Chart(every[every.question.notna()]).mark_text(
        align="left", baseline="middle", dy=4, fontSize=marks.PANEL_TITLE, fontWeight="bold", color=theme.ink
    )
    return marks.panel(
        tiles,
        signs,
        titles,
        counts,
        questions.encode(x=alt.value(0), y=y, text="question:N"),
        theme=theme,
        width=marks.WIDE,
        height=ROW * len(every),
    )
