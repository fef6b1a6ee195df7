"""Drawings of a term against depth: a map of layers by heads, and lines over layers."""

import altair as alt
import numpy as np

from analysis.figures import Figure
from dashboard.charts.base import BLUE, GREEN, ORANGE, VERMILION, Chart, Look, drawing
from dashboard.charts.heatmap import heatmap

DARK = {BLUE: "#4aa3df"}
CELL = 34


@drawing("depth_heads")
def heads(figure: Figure, look: Look) -> list[Chart]:
    """Layers down, heads across."""
    table, measure = figure.content["table"], figure.content["measure"]
    values = table.to_numpy(dtype=float)
    reach = float(np.nanmax(np.abs(values))) or 1.0
    return [
        heatmap(
            values,
            [str(layer) for layer in table.index],
            [str(head) for head in table.columns],
            domain=(-min(reach, 1.0), min(reach, 1.0)) if measure == "share" else (0, reach),
            row_title="layer",
            column_title="head",
            value_title=figure.content["label"],
            diverging=measure == "share",
            side=760,
            height=max(80, CELL * len(table)),
            look=look,
        )
    ]


@drawing("depth_terms", columns=2)
def terms(figure: Figure, look: Look) -> list[Chart]:
    """A line a term; one panel an aggregation, all on one scale."""
    rows, order, panels = (figure.content[key] for key in ("rows", "order", "panels"))
    hues = [DARK.get(hue, hue) if look.dark else hue for hue in (ORANGE, GREEN, VERMILION, BLUE)]
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
        y = alt.Y("value:Q", title=figure.content["label"], scale=alt.Scale(domain=reach, nice=True))
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
