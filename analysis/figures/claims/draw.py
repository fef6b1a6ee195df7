"""Drawings of the ledger: verdicts as a table of marks, measurements on turned strips."""

import textwrap

import altair as alt
import pandas as pd

from analysis.core import colours
from analysis.figures import Figure, marks
from analysis.figures.claims.data import StripsContent, VerdictsContent
from analysis.figures.drawing import Chart, Theme, drawing

VERDICTS = {
    "supported": (colours.VERDICTS["supported"], "circle"),
    "contradicted": (colours.VERDICTS["contradicted"], "cross"),
    "mixed": (colours.VERDICTS["mixed"], "diamond"),
    "open": (colours.VERDICTS["open"], "square"),
}
LABEL_CHARACTERS, LABEL_LINES = 34, 3
"""The most letters in a line of a name, and the most lines. Longer ones leave the marks no room on a narrow screen."""


@drawing("claims_statements")
def verdicts(figure: Figure[VerdictsContent], theme: Theme) -> list[Chart]:
    """One row a statement, one column a verdict; the mark's shape says the verdict again."""
    frame, words = figure.frame(), figure.content.words
    labels = _labels(frame.claim)
    shown = frame[["claim", "verdict", "for", "against", "sentence"]].assign(label=labels)
    dots = alt.Chart(shown).mark_point(filled=True, size=marks.LARGE_DOT, opacity=1)
    table = dots.encode(
        x=marks.columns_across("verdict", list(words)),
        y=marks.labelled_rows(labels, grid=True),
        color=marks.hues("verdict", {word: theme.colour(VERDICTS[word][0]) for word in words}),
        shape=marks.shapes("verdict", {word: VERDICTS[word][1] for word in words}),
        tooltip=marks.tips("claim", "verdict", "for:Q", "against:Q", "sentence"),
    )
    return [marks.panel(table, theme=theme, width=marks.HALF, height=marks.row_height(labels) * len(labels))]


@drawing("claim_strips")
def strips(figure: Figure[StripsContent], theme: Theme) -> list[Chart]:
    """One strip a statement: the tinted side speaks for the claim; the number stands at the right."""
    drawn = figure.content.drawn
    labels = _labels(drawn.id + " " + drawn.statement)
    shown = drawn.assign(label=labels)
    words = [word for word in VERDICTS if word in set(shown.verdict)]
    x = marks.number(
        alt.X, "place", ["← speaks against", "speaks for the claim →"], domain=(-1.1, 1.1), values=[0], form=" "
    )
    y = marks.labelled_rows(labels)
    side = alt.Chart(pd.DataFrame({"from": [0.0], "to": [1.1]})).mark_rect(
        color=theme.colour(colours.VERDICTS["supported"]), opacity=0.1
    )
    others = figure.content.others.merge(shown[["id", "label", "verdict"]], on="id")
    dots = alt.Chart(others).mark_point(filled=True, size=18, opacity=0.45)
    numbers = alt.Chart(shown).mark_text(align="left", dx=10, fontSize=marks.TEXT, color=theme.ink)
    hues = marks.hues("verdict", {word: theme.colour(VERDICTS[word][0]) for word in words})
    layers = [
        side.encode(x=alt.X("from:Q"), x2="to:Q"),
        marks.rule(theme, x=0.0),
        *([dots.encode(x=alt.X("other:Q"), y=y, color=hues)] if len(others) else []),
        *marks.row_plot(
            shown,
            x=x,
            y=y,
            theme=theme,
            ends=("place_low", "place_high"),
            color=hues,
            shape=marks.shapes("verdict", {word: VERDICTS[word][1] for word in words}, marks.legend(place="top")),
            size=marks.LARGE_DOT,
            tooltip=("id", "statement", "verdict", "printed", "sentence"),
        ),
        numbers.encode(x=alt.value(300), y=y, text="printed:N"),
    ]
    return [marks.panel(*layers, theme=theme, width=300, height=marks.row_height(labels) * len(labels))]


def _labels(names: pd.Series) -> list[str]:
    """Names in few lines, levelled, as labels of rows."""
    lines = [textwrap.wrap(name, LABEL_CHARACTERS, max_lines=LABEL_LINES, placeholder=" …") for name in names]
    return list(marks.level_labels(["\n".join(parts) for parts in lines]).values())
