"""The drawing of the ledger at a glance."""

import altair as alt

from analysis.figures import Figure
from analysis.figures.claims.draw import VERDICTS
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import TEXT, WIDE, hues, labelled_rows, legend, panel, tips, wrapped_labels
from analysis.figures.reading.open_questions import StatementsContent

LETTERS = 17
"""Of one line of a question."""


@drawing("reading_open")
def tiles(figure: Figure[StatementsContent], look: Look) -> list[Chart]:
    """A tile a statement with its id on it."""
    frame, questions, verdicts = figure.content.frame, figure.content.questions, figure.content.verdicts
    labels = wrapped_labels(questions, LETTERS)
    base = alt.Chart(frame.assign(label=frame.question.map(labels))).encode(
        x=alt.X("place:O", axis=None),
        y=labelled_rows(list(labels.values()), gap=0),
        opacity=alt.condition("datum.shown", alt.value(1), alt.value(0.18)),
        tooltip=tips("id", "statement", "verdict", ("sentence", "why")),
    )
    colours = {word: look.colour(VERDICTS[word][0]) for word in verdicts}
    cells = base.mark_rect(stroke=look.ground, strokeWidth=3, cornerRadius=4)
    cells = cells.encode(color=hues("verdict", colours, legend(place="top", columns=2)))
    names = base.mark_text(fontSize=TEXT, fontWeight="bold", color=look.ground).encode(text="id:N")
    return [panel(cells, names, look=look, width=WIDE, height=56 * len(questions))]
