"""Drawings of order against depth: what a permutation moves, and how far tokens attend."""

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.depth.draw import DEPTH, HEIGHT, TIPS, colour
from analysis.figures.depth.order import EquivarianceContent, LocalityContent
from analysis.figures.drawing import Chart, Theme, drawing


@drawing("depth_equivariance", columns=2)
def equivariance(figure: Figure[EquivarianceContent], theme: Theme) -> list[Chart]:
    """Errors with intervals; positions off dashed."""
    rows, models, panels = figure.content.rows, figure.content.models, figure.content.panels
    y = marks.number(alt.Y, "value", None, domain=(0, max(1.0, float(rows.high.max()))), padding=6)
    charts = []
    for index, (tokens, title) in enumerate(panels.items()):
        named = len(models) if index == len(panels) - 1 else 0
        lines = marks.line_plot(
            rows[rows.tokens == tokens],
            x=DEPTH,
            y=y,
            theme=theme,
            color=colour(models, theme, named=named),
            ends=("low", "high"),
            dash=marks.dashes("positions", {"as trained": [1, 0], "off": marks.DASH}),
            dots=marks.SEED,
            tooltip=(
                *TIPS,
                "positions",
                ("value", "change, in distances between two words", ".3~g"),
                *marks.interval_tips(".3~g"),
                ("largest", "largest change of one number", ".2~g"),
            ),
        )
        charts.append(marks.panel(*lines, theme=theme, width=marks.HALF, height=HEIGHT, title=title))
    return charts


@drawing("depth_locality", columns=2)
def locality(figure: Figure[LocalityContent], theme: Theme) -> list[Chart]:
    """Mean distance by layer above, attention against distance below; a column a kind of query."""
    content = figure.content
    titles = list(content.queries.items())
    even = marks.rule(theme, y=1, dash=marks.DASH)
    upper, lower = [], []
    for index, (query, title) in enumerate(titles):
        lines = marks.line_plot(
            content.by_layer[content.by_layer["query"] == query],
            x=marks.number(alt.X, "depth", "layer (0: first, 1: last)", domain=(0, 1), padding=8, ticks=5, grid=False),
            y=marks.number(alt.Y, "ratio", None),
            theme=theme,
            color=colour(content.models, theme, named=0),
            ends=("ratio_low", "ratio_high"),
            dots=marks.SEED,
            tooltip=(
                "model",
                "layer",
                ("ratio", "relative to even attention", ".3~g"),
                ("value", "mean distance, tokens", ".3~g"),
                *marks.interval_tips(".3~g", "ratio_low", "ratio_high"),
            ),
        )
        above = f"{title}: mean distance relative to even attention"
        upper.append(marks.panel(even, *lines, theme=theme, width=marks.HALF, height=HEIGHT, title=above))
        named = len(content.models) if index == len(titles) - 1 else 0
        lines = marks.line_plot(
            content.by_distance[content.by_distance["query"] == query],
            x=marks.number(alt.X, "distance", "distance, tokens", log=2, nice=False, padding=8, ticks=6, grid=False),
            # By ratio: ten times as much and a tenth are as far from even.
            y=marks.number(alt.Y, "ratio", None, log=2, ticks=6),
            theme=theme,
            color=colour(content.models, theme, named=named),
            dots=marks.SEED,
            tooltip=(
                "model",
                ("first", "distance from"),
                ("last", "to"),
                ("ratio", "relative to even attention", ".3~g"),
            ),
        )
        below = f"{title}: attention at each distance, relative to even"
        lower.append(marks.panel(even, *lines, theme=theme, width=marks.HALF, height=HEIGHT, title=below))
    # A column each; where there is but one kind, its two panels stand abreast.
    return upper + lower
