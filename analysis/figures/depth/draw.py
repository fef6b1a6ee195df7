"""Drawings against depth: a line a model, a panel a measure."""

from collections.abc import Sequence

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.figures.depth.basis import BasisContent
from analysis.figures.depth.data import DecodingContent
from analysis.figures.drawing import GREY, Chart, Look, drawing

WIDE, HIGH = 250, 190
LEGEND = alt.Legend(title=None, orient="bottom", columns=1, labelLimit=260)
LEGEND_ROW = 32
"""Pixels that a model's name takes, with its part of the axis title."""
DEPTH = "depth (0: first layer begins, 1: last ends)"
TIPS = [
    alt.Tooltip("model:N"),
    alt.Tooltip("layer:Q", title="hidden states entering layer"),
    alt.Tooltip("value:Q", format=".4~g"),
]


def colour(models: Sequence[str], look: Look, *, legend: bool, grey: Sequence[str] = ()) -> alt.Color:
    """One hue a model; published ones are grey."""
    scale = alt.Scale(domain=[*models, *grey], range=[*look.many(len(models)), *[GREY] * len(grey)])
    return alt.Color("model:N", scale=scale, legend=LEGEND if legend else None)


def high(look: Look, models: int) -> int:
    """A panel's height, on screen with the legend that is fitted into it."""
    return HIGH + (LEGEND_ROW * models if look.screen else 0)


def depth_axis() -> alt.X:
    """From the first layer's beginning to the last one's end."""
    scale = alt.Scale(domain=[0, 1], nice=False, padding=8)
    return alt.X("depth:Q", scale=scale, axis=alt.Axis(title=DEPTH, tickCount=5, grid=False))


@drawing("depth_decoding", columns=3)
def decoding(figure: Figure[DecodingContent], look: Look) -> list[Chart]:
    """Scores of the decoders with intervals, and chance as a dashed line."""
    rows, models, panels = (figure.content.rows, figure.content.models, figure.content.panels)
    return [
        _decoder(rows[rows.panel == panel], panel, models, look, last=place >= len(panels) - 3)
        for place, panel in enumerate(panels)
    ]


def _decoder(rows: pd.DataFrame, panel: str, models: Sequence[str], look: Look, *, last: bool) -> Chart:
    low, named = min(0.0, float(rows.low.min())), len(models) if last and len(models) > 1 else 0
    y = alt.Y("value:Q", title=None, scale=alt.Scale(domain=[low, 1], nice=False, padding=6))
    base = alt.Chart(rows).encode(x=depth_axis(), color=colour(models, look, legend=named > 0))
    tips = [
        *TIPS,
        alt.Tooltip("low:Q", title="95 % interval from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
        alt.Tooltip("chance:Q", format=".3~g"),
    ]
    return alt.layer(
        base.mark_line(strokeDash=[4, 4], opacity=0.8, strokeWidth=1.3).encode(y=alt.Y("chance:Q")),
        base.mark_line(strokeWidth=2).encode(y=y),
        base.mark_rule(strokeWidth=2, opacity=0.6).encode(y="low:Q", y2="high:Q"),
        base.mark_point(filled=True, size=46, opacity=1).encode(y=y, tooltip=tips),
    ).properties(width=WIDE, height=high(look, named), title=alt.TitleParams(panel, fontSize=13, anchor="start"))


@drawing("depth_basis", columns=3)
def basis(figure: Figure[BasisContent], look: Look) -> list[Chart]:
    """Measures of the position basis; published models are grey, told apart by their marks."""
    rows, models, panels, published = (
        figure.content.rows,
        figure.content.models,
        figure.content.panels,
        figure.content.published,
    )
    return [
        _measure(rows[rows.measure == name], title, models, published, look, last=place >= len(panels) - 3)
        for place, (name, title) in enumerate(panels.items())
    ]


def _measure(
    rows: pd.DataFrame, panel: str, models: Sequence[str], published: Sequence[str], look: Look, *, last: bool
) -> Chart:
    kinds = [*models, *published]
    marks = alt.Scale(domain=kinds, range=[*["circle"] * len(models), "square", "triangle-up"])
    y = alt.Y("value:Q", title=None, scale=alt.Scale(zero=True, nice=True))
    base = alt.Chart(rows[["model", "layer", "depth", "value"]]).encode(x=depth_axis(), y=y)
    hue = colour(models, look, legend=last, grey=published)
    shape = alt.Shape("model:N", scale=marks, legend=LEGEND if last else None)
    noise = alt.Chart(rows.loc[rows.noise.notna(), ["model", "depth", "noise"]])
    return alt.layer(
        noise.mark_line(strokeDash=[4, 4], opacity=0.8, strokeWidth=1.3).encode(
            x=depth_axis(), y=alt.Y("noise:Q"), color=hue
        ),
        base.mark_line(strokeWidth=1.6).encode(color=hue, detail="model:N"),
        base.mark_point(filled=True, size=46, opacity=1).encode(color=hue, shape=shape, tooltip=TIPS),
    ).properties(
        width=WIDE,
        height=high(look, len(kinds) if last else 0),
        title=alt.TitleParams(panel, fontSize=13, anchor="start"),
    )
