"""The drawing of the ledger at a glance."""

import textwrap

import altair as alt

from analysis.figures import Figure
from analysis.figures.claims.draw import VERDICTS
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.reading.open_questions import StatementsContent


def _broken(question: str) -> str:
    """A question in short lines, parted by bars."""
    return "|".join(textwrap.wrap(question, 17))


@drawing("reading_open")
def tiles(figure: Figure[StatementsContent], look: Look) -> list[Chart]:
    """A tile a statement with its id on it."""
    frame, questions, verdicts = (figure.content.frame, figure.content.questions, figure.content.verdicts)
    base = alt.Chart(frame.assign(question=frame.question.map(_broken))).encode(
        x=alt.X("place:O", axis=None),
        y=alt.Y(
            "question:N",
            sort=[_broken(question) for question in questions],
            axis=alt.Axis(title=None, labelExpr="split(datum.label, '|')", ticks=False, domain=False),
        ),
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.18)),
        tooltip=["id:N", "statement:N", "verdict:N", alt.Tooltip("sentence:N", title="why")],
    )
    cells = base.mark_rect(stroke=look.ground, strokeWidth=3, cornerRadius=4).encode(
        color=alt.Color(
            "verdict:N",
            scale=alt.Scale(domain=verdicts, range=[look.colour(VERDICTS[word][0]) for word in verdicts]),
            legend=alt.Legend(title=None, orient="top", symbolType="square"),
        )
    )
    names = base.mark_text(fontSize=12, fontWeight="bold", color=look.ground).encode(text="id:N")
    return [(cells + names).properties(width=620, height=56 * len(questions))]
