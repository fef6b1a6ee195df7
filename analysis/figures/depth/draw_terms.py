"""Drawings of a term against depth: a map of layers by heads, and lines over layers."""

from typing import Any

import altair as alt
import numpy as np

from analysis.core.colours import of_term
from analysis.figures import Figure
from analysis.figures.depth.terms import TermsContent
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.terms.data import FOUR, TermTable
from analysis.figures.terms.draw import measured_colours

CELL, NUMBER = 30, 34
"""Pixels: the height of a row, and the width that a number takes."""


@drawing("depth_heads")
def heads(figure: Figure[TermTable], look: Look) -> list[Chart]:
    """Layers down, heads across, the number in every cell."""
    table, label = figure.content.table, figure.content.label
    reach = float(np.nanmax(np.abs(table.to_numpy(dtype=float)))) or 1.0
    colour, ink = measured_colours(reach, figure.content.measure, label, look)
    frame = table.reset_index().melt("layer", var_name="head", value_name="value")
    bare: dict[str, Any] = {"ticks": False, "domain": False, "labelOverlap": False, "labelAngle": 0}
    base = alt.Chart(frame).encode(
        x=alt.X("head:O", axis=alt.Axis(title="head", orient="top", **bare)),
        y=alt.Y("layer:O", axis=alt.Axis(title="layer", **bare)),
        tooltip=["layer:O", "head:O", alt.Tooltip("value:Q", title=label, format=".4f")],
    )
    cells = base.mark_rect().encode(color=colour)
    # Where there is no room for them tooltips and the data table still give the numbers.
    room = f"width < {NUMBER * len(table.columns)} ? 0 : 1"
    numbers = base.mark_text(fontSize=12, opacity=alt.expr(room)).encode(
        text=alt.Text("value:Q", format=".2f"), color=ink
    )
    return [(cells + numbers).properties(width=760, height=CELL * len(table))]


@drawing("depth_terms", columns=2)
def terms(figure: Figure[TermsContent], look: Look) -> list[Chart]:
    """A line a term; one panel an aggregation, all on one scale."""
    rows, order, panels = (figure.content.rows, figure.content.order, figure.content.panels)
    hues = [look.colour(of_term(term)) for term in FOUR]
    reach = [min(0.0, float(rows.low.min())), float(rows.high.max())]
    drawn = []
    for name, title in panels.items():
        own = rows[rows.aggregation == name]
        hue = alt.Color(
            "label:N",
            scale=alt.Scale(domain=order, range=hues),
            legend=alt.Legend(title=None, orient="bottom", columns=2),
        )
        base = alt.Chart(own).encode(
            x=alt.X("layer:Q", axis=alt.Axis(title="layer", tickMinStep=1, format="d", grid=False)), color=hue
        )
        y = alt.Y("value:Q", title=figure.content.label, scale=alt.Scale(domain=reach, nice=True))
        tips = [
            alt.Tooltip("label:N", title="term (query → key)"),
            alt.Tooltip("layer:Q"),
            alt.Tooltip("value:Q", format=".4f"),
            alt.Tooltip("low:Q", title="95 % interval from", format=".4f"),
            alt.Tooltip("high:Q", title="to", format=".4f"),
            alt.Tooltip("method:N"),
        ]
        zero = alt.Chart().mark_rule(color=look.faint).encode(y=alt.datum(0))
        drawn.append(
            alt.layer(
                zero,
                base.mark_line(strokeWidth=2).encode(y=y),
                base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="low:Q", y2="high:Q"),
                base.mark_point(filled=True, size=50, opacity=1).encode(y=y, tooltip=tips),
            ).properties(width=380, height=300, title=alt.TitleParams(title, fontSize=13, anchor="start"))
        )
    return drawn
