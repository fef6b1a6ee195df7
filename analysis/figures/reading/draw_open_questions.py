"""The drawing of the ledger at a glance."""

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.claims.verdicts import VERDICTS
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.reading.open_questions import StatementsContent

LETTERS = 17
"""The most letters in one line of a question."""
NARROW = 400
"""Pixels of the chart below which an id is wider than its tile."""


@drawing("reading_open")
def tiles(figure: Figure[StatementsContent], theme: Theme) -> list[Chart]:
    """A tile a statement with its id on it."""
    frame, questions, verdicts = figure.content.frame, figure.content.questions, figure.content.verdicts
    labels = marks.wrapped_labels(questions, LETTERS)
    base = alt.Chart(frame.assign(label=frame.question.map(labels))).encode(
        x=alt.X("place:O", axis=None),
        y=marks.labelled_rows(list(labels.values()), gap=0.08),
        yOffset=alt.YOffset("line:O", scale=alt.Scale(paddingInner=0.06)),
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.18)),
        tooltip=marks.tips("id", "statement", "verdict", ("sentence", "why")),
    )
    colours = {word: theme.colour(VERDICTS[word][0]) for word in verdicts}
    cells = base.mark_rect(stroke=theme.ground, strokeWidth=3, cornerRadius=4)
    cells = cells.encode(color=marks.hues("verdict", colours, marks.legend(place="top", columns=2)))
    # Upright where the tiles are narrow.
    rotation = alt.ExprRef(f"width < {NARROW} ? 270 : 0")
    labels = base.mark_text(angle=rotation, fontSize=marks.TEXT, fontWeight="bold", color=theme.ground).encode(
        text=alt.Text("id:N")
    )
    return [marks.panel(cells, labels, theme=theme, width=marks.WIDE, height=108 * len(questions))]
