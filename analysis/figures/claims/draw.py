"""Drawings of the ledger: verdicts as a table of marks, evidence as dots with intervals."""

import textwrap

import altair as alt
import pandas as pd

from analysis.core import colours, frames
from analysis.figures import Figure, marks
from analysis.figures.claims.data import SIDES, EvidenceContent, VerdictsContent
from analysis.figures.drawing import Chart, Theme, drawing

VERDICTS = {
    "supported": (colours.VERDICTS["supported"], "circle"),
    "contradicted": (colours.VERDICTS["contradicted"], "cross"),
    "mixed": (colours.VERDICTS["mixed"], "diamond"),
    "open": (colours.VERDICTS["open"], "square"),
    "inconclusive": (colours.VERDICTS["open"], "square"),
    "not yet measured": (colours.VERDICTS["open"], "triangle-up"),
}
STYLES = {
    "for": (colours.VERDICTS["supported"], "circle"),
    "against": (colours.VERDICTS["contradicted"], "cross"),
    "beside": (colours.VERDICTS["open"], "diamond"),
}
LABEL_CHARACTERS, LABEL_LINES = 34, 3
"""The most letters in a line of a name, and the most lines. Longer ones leave the marks no room on a narrow screen."""


@drawing("claims_statements", "claims_verdicts")
def verdicts(figure: Figure[VerdictsContent], theme: Theme) -> list[Chart]:
    """One row a claim, one column a verdict; the mark's shape says the verdict again."""
    frame, words = figure.frame(), figure.content.words
    lines = [textwrap.wrap(claim, LABEL_CHARACTERS, max_lines=LABEL_LINES, placeholder=" …") for claim in frame.claim]
    labels = list(marks.level_labels(["\n".join(parts) for parts in lines]).values())
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


@drawing("claim_evidence")
def evidence(figure: Figure[EvidenceContent], theme: Theme) -> list[Chart]:
    """One panel a unit; rows are numbered as in the tables."""
    drawn = figure.content.drawn
    # What the rule judges by comes first.
    units = sorted(dict.fromkeys(drawn.unit), key=lambda unit: unit != figure.content.unit)
    return [_panel(drawn[drawn.unit == unit], unit, figure.content, theme) for unit in units]


def _panel(rows: pd.DataFrame, unit: str, content: EvidenceContent, theme: Theme) -> Chart:
    shown = rows[["number", "says", "source", "value", "low", "high", "kind"]].assign(
        label=[f"{row.number}  {row.source}" for row in frames.rows(rows)], bears=rows.side.map(SIDES)
    )
    sides = [side for side in SIDES if side in set(rows.side)]
    key = marks.legend(place="top")
    layers = marks.row_plot(
        shown,
        x=marks.number(alt.X, "value", unit, padding=14, ticks=7),
        y=marks.rows_down("label", shown.label.tolist()),
        theme=theme,
        color=marks.hues("bears", {SIDES[side]: theme.colour(STYLES[side][0]) for side in sides}, key),
        shape=marks.shapes("bears", {SIDES[side]: STYLES[side][1] for side in sides}, key),
        size=marks.LARGE_DOT,
        tooltip=("number:Q", "says", "source", "value:Q", "low:Q", "high:Q", "kind"),
    )
    if content.threshold is not None and unit == content.unit:
        layers.insert(0, marks.rule(theme, x=content.threshold, dash=marks.DASH))
    # A page takes the legend's room from the height.
    height = marks.ROW * (len(rows) + len(sides)) + 20
    return marks.panel(*layers, theme=theme, width=430, height=height, title=unit or "value")
