"""Drawings of order against depth: what a permutation moves, and how far tokens attend."""

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.depth.draw import colour, depth_axis, high
from analysis.figures.depth.order import EquivarianceContent, LocalityContent
from analysis.figures.drawing import Chart, Look, drawing

WIDE = 360
DASHES = alt.Scale(domain=["as trained", "off"], range=[[1, 0], [5, 4]])
LAYER = "layer (0: first, 1: last)"


def _titled(panel: Chart, title: str, look: Look, named: int) -> Chart:
    heading = alt.TitleParams(title, fontSize=13, anchor="start")
    return panel.properties(width=WIDE, height=high(look, named), title=heading)


@drawing("depth_equivariance", columns=2)
def equivariance(figure: Figure[EquivarianceContent], look: Look) -> list[Chart]:
    """Errors with intervals; positions off dashed."""
    rows, models, panels = (figure.content.rows, figure.content.models, figure.content.panels)
    most = max(1.0, float(rows.high.max()))
    drawn = []
    for place, (tokens, title) in enumerate(panels.items()):
        last = place == len(panels) - 1
        named = len(models) if last else 0
        there = rows[rows.tokens == tokens]
        y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[0, most], nice=False, padding=6))
        base = alt.Chart(there).encode(
            x=depth_axis(), color=colour(models, look, legend=named > 0), detail=["model:N", "positions:N"]
        )
        tips = [
            alt.Tooltip("model:N"),
            alt.Tooltip("positions:N"),
            alt.Tooltip("layer:Q", title="hidden states entering layer"),
            alt.Tooltip("value:Q", title="of the distance of two words", format=".3~g"),
            alt.Tooltip("low:Q", title="95 % interval from", format=".3~g"),
            alt.Tooltip("high:Q", title="to", format=".3~g"),
            alt.Tooltip("largest:Q", title="largest of one number", format=".2~g"),
        ]
        dash = alt.StrokeDash("positions:N", scale=DASHES, legend=None)
        panel = alt.layer(
            base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash),
            base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="low:Q", y2="high:Q"),
            base.mark_point(filled=True, size=46, opacity=1).encode(y=y, tooltip=tips),
        )
        drawn.append(_titled(panel, title, look, named))
    return drawn


@drawing("depth_locality", columns=2)
def locality(figure: Figure[LocalityContent], look: Look) -> list[Chart]:
    """Mean distance by layer above, attention against distance below; a column a kind of query."""
    reach, at, models, queries = (
        figure.content.reach,
        figure.content.at,
        figure.content.models,
        figure.content.queries,
    )
    titles = list(queries.items())
    # A column each; where there is but one kind, its two panels stand abreast.
    return [
        *(_reach(reach[reach["query"] == query], title, models, look) for query, title in titles),
        *(
            _against(at[at["query"] == query], title, models, look, last=place == len(titles) - 1)
            for place, (query, title) in enumerate(titles)
        ),
    ]


def _even(look: Look) -> Chart:
    return alt.Chart(alt.Data(values=[{"even": 1}])).mark_rule(strokeDash=[4, 4], color=look.ink).encode(y="even:Q")


def _reach(rows: pd.DataFrame, title: str, models: list[str], look: Look) -> Chart:
    x = alt.X(
        "depth:Q",
        scale=alt.Scale(domain=[0, 1], nice=False, padding=8),
        axis=alt.Axis(title=LAYER, tickCount=5, grid=False),
    )
    y = alt.Y("ratio:Q", title=None, scale=alt.Scale(zero=False, nice=True))
    base = alt.Chart(rows).encode(x=x, color=colour(models, look, legend=False))
    tips = [
        alt.Tooltip("model:N"),
        alt.Tooltip("layer:Q"),
        alt.Tooltip("ratio:Q", title="of the distance of even attention", format=".3~g"),
        alt.Tooltip("value:Q", title="mean distance, tokens", format=".3~g"),
        alt.Tooltip("ratio_low:Q", title="95 % interval from", format=".3~g"),
        alt.Tooltip("ratio_high:Q", title="to", format=".3~g"),
    ]
    panel = alt.layer(
        _even(look),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="ratio_low:Q", y2="ratio_high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(y=y, tooltip=tips),
    )
    return _titled(panel, f"{title}: mean distance over that of even attention", look, 0)


def _against(rows: pd.DataFrame, title: str, models: list[str], look: Look, *, last: bool) -> Chart:
    named = len(models) if last else 0
    x = alt.X(
        "distance:Q",
        scale=alt.Scale(type="log", base=2, nice=False, padding=8),
        axis=alt.Axis(title="distance, tokens", grid=False, tickCount=6),
    )
    # By ratio: ten times as much and a tenth are as far from even.
    y = alt.Y("ratio:Q", title=None, scale=alt.Scale(type="log", base=2, nice=True), axis=alt.Axis(tickCount=6))
    base = alt.Chart(rows).encode(x=x, y=y, color=colour(models, look, legend=named > 0))
    tips = [
        alt.Tooltip("model:N"),
        alt.Tooltip("first:Q", title="distance from"),
        alt.Tooltip("last:Q", title="to"),
        alt.Tooltip("ratio:Q", title="over even attention", format=".3~g"),
    ]
    panel = alt.layer(
        _even(look),
        base.mark_line(strokeWidth=2),
        base.mark_point(filled=True, size=46, opacity=1).encode(tooltip=tips),
    )
    return _titled(panel, f"{title}: attention at a distance over even attention", look, named)
