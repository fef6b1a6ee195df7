"""Drawings of every layer: one term by layer and head, and lines against depth."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.term_names import FOUR, SOURCES
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.heatmap import heatmap
from analysis.figures.layers.data import DepthContent, LayerHeadsContent
from analysis.figures.terms.data import term_label
from analysis.figures.terms.maps import LinesContent

COLOURS = {term_label(term): of_term(term) for term in FOUR} | {source: of_term(source) for source in SOURCES}


@drawing("probe_layers")
def layer_heads(figure: Figure[LayerHeadsContent], look: Look) -> list[Chart]:
    """Layers down, heads across."""
    values, share = figure.content.values, figure.content.measure == "share"
    reach = float(np.nanmax(np.abs(values))) if np.isfinite(values).any() else 0.0
    reach = reach or 1.0
    return [
        heatmap(
            values,
            [str(layer) for layer in range(values.shape[0])],
            [str(head) for head in range(values.shape[1])],
            domain=(-reach, reach) if share else (0, reach),
            row_title="layer",
            column_title="head",
            value_title=figure.content.label,
            diverging=share,
            side=max(420, 30 * values.shape[1]),
            height=max(160, 26 * values.shape[0]),
            look=look,
        )
    ]


def _hues(names: list[str], look: Look) -> list[str]:
    """The colours of terms and sources; the total has the ink's, what holds several the one of the rest."""
    return [look.ink if name == "total" else look.colour(COLOURS.get(name, of_term("bias"))) for name in names]


def _lines(frame: pd.DataFrame, order: list[str], title: str, look: Look) -> Chart:
    names = [name for name in order if name in set(frame.series)]
    base = alt.Chart(frame).encode(
        x=alt.X("layer:O", axis=alt.Axis(title="layer", labelAngle=0)),
        y=alt.Y("value:Q", axis=alt.Axis(title=title)),
        color=alt.Color(
            "series:N",
            scale=alt.Scale(domain=names, range=_hues(names, look)),
            legend=alt.Legend(title=None, orient="bottom", columns=2),
        ),
        shape=alt.Shape("series:N", scale=alt.Scale(domain=names), legend=None),
        tooltip=[alt.Tooltip("layer:O"), alt.Tooltip("series:N", title="what"), alt.Tooltip("value:Q", format=".4f")],
    )
    zero = alt.Chart().mark_rule(color=look.faint).encode(y=alt.YDatum(0))
    return (zero + base.mark_line(strokeWidth=2) + base.mark_point(filled=True, size=60, opacity=1)).properties(
        width=380, height=280
    )


@drawing("probe_distance")
def distance(figure: Figure[LinesContent], look: Look) -> list[Chart]:
    """Lines against distance; the total is drawn darker."""
    order = figure.content.order
    base = alt.Chart(figure.content.frame).encode(
        x=alt.X("distance:Q", axis=alt.Axis(title="distance, key minus query (tokens)", tickMinStep=1, format="d")),
        y=alt.Y("mean:Q", axis=alt.Axis(title="key-centred score, mean")),
        color=alt.Color(
            "series:N",
            scale=alt.Scale(domain=order, range=_hues(order, look)),
            legend=alt.Legend(title=None, orient="bottom", columns=2),
        ),
        tooltip=[
            alt.Tooltip("series:N", title="what"),
            alt.Tooltip("distance:Q"),
            alt.Tooltip("mean:Q", format=".4f"),
            alt.Tooltip("sd:Q", format=".4f", title="standard deviation"),
            alt.Tooltip("pairs:Q", title="pairs of tokens"),
        ],
    )
    zero = alt.Chart().mark_rule(color=look.faint).encode(y=alt.YDatum(0))
    lines = base.mark_line(strokeWidth=2) + base.mark_point(filled=True, size=30, opacity=1)
    return [(zero + lines).properties(width=760, height=260)]


@drawing("probe_depth", columns=2)
def depth(figure: Figure[DepthContent], look: Look) -> list[Chart]:
    """The terms of the scores, and the sources of the hidden states."""
    return [
        _lines(figure.content.scores, figure.content.order, figure.content.label, look),
        _lines(figure.content.states, list(SOURCES), "part of the hidden states", look),
    ]
