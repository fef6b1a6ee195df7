"""Drawings of every layer: one term by layer and head, and lines against depth."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.term_names import FOUR, SOURCES
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.heatmap import heatmap
from analysis.figures.layers.data import DepthContent, LayerHeadsContent
from analysis.figures.terms.data import term_label
from analysis.figures.terms.maps import LinesContent

COLOURS = {term_label(term): of_term(term) for term in FOUR} | {source: of_term(source) for source in SOURCES}


@drawing("probe_layers")
def layer_heads(figure: Figure[LayerHeadsContent], theme: Theme) -> list[Chart]:
    """Layers down, heads across."""
    values, share = figure.content.values, figure.content.measure == "share"
    limit = float(np.nan_to_num(np.abs(values)).max()) or 1.0
    return [
        heatmap(
            values,
            [str(layer) for layer in range(values.shape[0])],
            [str(head) for head in range(values.shape[1])],
            domain=(-limit, limit) if share else (0, limit),
            row_title="layer",
            column_title="head",
            value_title=figure.content.label,
            diverging=share,
            side=max(420, 30 * values.shape[1]),
            height=max(160, 26 * values.shape[0]),
            theme=theme,
        )
    ]


def _colour(names: Sequence[str], theme: Theme) -> alt.Color:
    """The colours of terms and sources; the total has the ink's, and series of several terms have that of the rest."""
    colours = {name: theme.colour(COLOURS.get(name, of_term("bias"))) for name in names}
    return marks.hues("series", colours | ({"total": theme.ink} if "total" in colours else {}), marks.legend(columns=2))


def _lines(frame: pd.DataFrame, order: Sequence[str], title: str, theme: Theme) -> Chart:
    names = [name for name in order if name in set(frame.series)]
    lines = marks.line_plot(
        frame, x=marks.categories(alt.X, "layer", "layer"), y=marks.number(alt.Y, "value", title), theme=theme,
        color=_colour(names, theme), shape=alt.Shape("series:N", scale=alt.Scale(domain=names), legend=None),
        tooltip=("layer", ("series", "what"), ("value", "", ".4f")),
    )  # fmt: skip
    return marks.panel(marks.rule(theme, y=0), *lines, theme=theme, width=marks.HALF, height=280)


@drawing("probe_distance")
def distance(figure: Figure[LinesContent], theme: Theme) -> list[Chart]:
    """Lines against distance; the total is drawn darker."""
    lines = marks.line_plot(
        figure.content.frame, x=marks.whole_numbers(alt.X, "distance", "distance, key minus query (tokens)"),
        y=marks.number(alt.Y, "mean", "key-centred score, mean"), theme=theme,
        color=_colour(figure.content.order, theme),
        dots=marks.SEED, tooltip=(
            ("series", "what"), "distance", ("mean", "", ".4f"), ("sd", "standard deviation", ".4f"),
            ("pairs", "pairs of tokens"),
        ),
    )  # fmt: skip
    return [marks.panel(marks.rule(theme, y=0), *lines, theme=theme, width=marks.WIDE, height=260)]


@drawing("probe_depth", columns=2)
def depth(figure: Figure[DepthContent], theme: Theme) -> list[Chart]:
    """The terms of the scores, and the sources of the hidden states."""
    return [
        _lines(figure.content.scores, figure.content.order, figure.content.label, theme),
        _lines(figure.content.states, SOURCES, "part of the hidden states", theme),
    ]
