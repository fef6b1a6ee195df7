"""Drawings of a term against depth: a map of layers by heads, and lines over layers."""

import altair as alt
import numpy as np

from analysis.core.colours import of_term
from analysis.figures import Figure, marks
from analysis.figures.depth.terms import TermsContent
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.terms.data import FOUR, TermTable
from analysis.figures.terms.draw import measured_colours

CELL, NUMBER = 30, 34
"""Pixels: the height of a row, and the width that a number takes."""


@drawing("depth_heads")
def heads(figure: Figure[TermTable], theme: Theme) -> list[Chart]:
    """Layers down, heads across, the number in every cell."""
    table, label = figure.content.table, figure.content.label
    limit = float(np.nanmax(np.abs(table.to_numpy(dtype=float)))) or 1.0
    colour, ink = measured_colours(limit, figure.content.measure, label, theme)
    base = alt.Chart(table.reset_index().melt("layer", var_name="head", value_name="value")).encode(
        x=marks.categories(alt.X, "head", "head", place="top"),
        y=marks.categories(alt.Y, "layer", "layer"),
        tooltip=marks.tips("layer", "head", ("value", label, ".4f")),
    )
    # Where there is no room for them tooltips and the data table still give the numbers.
    visibility = alt.expr(f"width < {NUMBER * len(table.columns)} ? 0 : 1")
    numbers = base.mark_text(fontSize=marks.TEXT, opacity=visibility).encode(
        text=alt.Text("value:Q", format=".2f"), color=ink
    )
    cells = base.mark_rect().encode(color=colour)
    return [marks.panel(cells, numbers, theme=theme, width=marks.WIDE, height=CELL * len(table))]


@drawing("depth_terms", columns=2)
def terms(figure: Figure[TermsContent], theme: Theme) -> list[Chart]:
    """A line a term; one panel an aggregation, all on one scale."""
    rows, order = figure.content.rows, figure.content.order
    colours = {label: theme.colour(of_term(term)) for label, term in zip(order, FOUR, strict=True)}
    extent = (min(0.0, float(rows.low.min())), float(rows.high.max()))
    charts = []
    for name, title in figure.content.panels.items():
        lines = marks.line_plot(
            rows[rows.aggregation == name],
            x=marks.whole_numbers(alt.X, "layer", "layer", grid=False),
            y=marks.number(alt.Y, "value", figure.content.label, domain=extent, nice=True),
            theme=theme,
            color=marks.hues("label", colours, marks.legend(columns=2)),
            ends=("low", "high"),
            tooltip=(
                ("label", "term (query → key)"),
                "layer",
                ("value", "", ".4f"),
                *marks.interval_tips(".4f"),
                "method",
            ),
        )
        charts.append(
            marks.panel(marks.rule(theme, y=0), *lines, theme=theme, width=marks.HALF, height=300, title=title)
        )
    return charts
