"""Drawings of interventions."""

from typing import Any

import altair as alt
import numpy as np

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.heatmap import heatmap, token_axis
from analysis.figures.interventions.data import (
    EffectsContent,
    PatternChangeContent,
    PatternsContent,
    PermutationContent,
    TokensContent,
)
from analysis.figures.vision.interventions import MovedContent

SHAPES: dict[str, Any] = {"domain": ["before", "after"], "range": ["circle", "diamond"]}


def _places(labels: list[str]) -> alt.X:
    """Tokens across, by their order: a token may come twice."""
    return alt.X("order:O", axis=token_axis(labels, "token", angle=-60))


@drawing("intervention_tokens")
def tokens(figure: Figure[TokensContent], look: Look) -> list[Chart]:
    """Losses before and after joined by a line; or a cosine's distance from 1."""
    frame = figure.frame()
    frame = frame.assign(order=range(len(frame)))
    base = alt.Chart(frame).encode(x=_places(figure.content.labels))
    if not figure.content.losses:
        tooltip = [alt.Tooltip("token:N"), alt.Tooltip("cosine:Q", format=".4f")]
        low = min(0.0, float(frame.cosine.min()))
        y = alt.Y("cosine:Q", scale=alt.Scale(domain=[low, 1]), axis=alt.Axis(title="cosine, before and after"))
        bars = base.mark_rule(strokeWidth=2, color=look.series, opacity=0.5).encode(
            y=y, y2=alt.datum(1), tooltip=tooltip
        )
        dots = base.mark_point(filled=True, size=60, color=look.series, opacity=1).encode(y=y, tooltip=tooltip)
        return [(bars + dots).properties(width=820, height=220)]
    tooltip = [
        alt.Tooltip("token:N"),
        alt.Tooltip("likeliest_before:N", title="likeliest before"),
        alt.Tooltip("likeliest_after:N", title="likeliest after"),
        alt.Tooltip("loss_before:Q", format=".3f"),
        alt.Tooltip("loss_after:Q", format=".3f"),
    ]
    axis = alt.Axis(title="cross-entropy (nats)")
    lines = base.mark_rule(color=look.faint, strokeWidth=2).encode(
        y=alt.Y("loss_before:Q", axis=axis), y2="loss_after:Q", tooltip=tooltip
    )
    dots = [
        base.transform_calculate(when=f"'{when}'")
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=alt.Y(f"loss_{when}:Q", axis=axis),
            color=alt.Color(
                "when:N",
                scale=alt.Scale(domain=["before", "after"], range=look.many(2)),
                legend=alt.Legend(title=None, orient="top"),
            ),
            shape=alt.Shape("when:N", scale=alt.Scale(**SHAPES), legend=alt.Legend(title=None, orient="top")),
            tooltip=tooltip,
        )
        for when in ("before", "after")
    ]
    return [alt.layer(lines, *dots).properties(width=820, height=220)]


@drawing("intervention_kl", "vision_kl")
def kl(figure: Figure[PatternChangeContent], look: Look) -> list[Chart]:
    """Layers down, heads across."""
    values = figure.content.kl
    layers, heads = values.shape
    return [
        heatmap(
            values,
            [str(number) for number in range(layers)],
            [str(number) for number in range(heads)],
            domain=(0, float(values.max()) or 1.0),
            row_title="layer",
            column_title="head",
            value_title="KL (nats)",
            diverging=False,
            side=600,
            height=max(120, 26 * layers),
            look=look,
        )
    ]


@drawing("vision_moved")
def moved(figure: Figure[MovedContent], look: Look) -> list[Chart]:
    """Patches where they stand; those that were hidden are left out."""
    values = figure.content.values
    rows, columns = values.shape
    return [
        heatmap(
            values,
            [str(row) for row in range(rows)],
            [str(column) for column in range(columns)],
            domain=(min(0.0, float(np.nanmin(values))), 1),
            row_title="row of the patch",
            column_title="column of the patch",
            value_title="cosine, before and after",
            diverging=False,
            side=380,
            height=360,
            look=look,
        )
    ]


@drawing("intervention_maps", columns=3)
def maps(figure: Figure[PatternsContent], look: Look) -> list[Chart]:
    """Before, after and the difference; one scale, which the difference has on both sides of zero."""
    labels, reach = figure.content.labels, figure.content.reach
    return [
        heatmap(
            values,
            labels,
            labels,
            domain=(-reach, reach) if "−" in name else (0, reach),
            row_title="query",
            column_title="key",
            value_title="difference" if "−" in name else "attention probability",
            title=name,
            diverging="−" in name,
            side=330,
            look=look,
        )
        for name, values in figure.content.maps.items()
    ]


@drawing("intervention_permutation")
def permutation(figure: Figure[PermutationContent], look: Look) -> list[Chart]:
    """Each token's error, positions off and on, on a logarithmic scale."""
    wide = figure.frame()
    wide = wide.assign(order=range(len(wide)))
    frame = wide.melt(["order", "token"], ["off", "on"], "positions", "error")
    # A logarithm has no place for an error of exactly 0: it is drawn at the smallest one that there is.
    smallest = float(frame.error[frame.error > 0].min()) if (frame.error > 0).any() else 1e-17
    frame = frame.assign(drawn=np.maximum(frame.error, smallest))
    names = ["off", "on"]
    legend = alt.Legend(title="positions", orient="top")
    chart = (
        alt.Chart(frame)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            x=_places(figure.content.labels),
            y=alt.Y(
                "drawn:Q",
                scale=alt.Scale(type="log", nice=True),
                axis=alt.Axis(title="largest difference of the output", format=".0e", tickCount=8),
            ),
            color=alt.Color("positions:N", scale=alt.Scale(domain=names, range=look.many(2)), legend=legend),
            shape=alt.Shape("positions:N", scale=alt.Scale(domain=names, range=["circle", "diamond"]), legend=legend),
            tooltip=[
                alt.Tooltip("token:N"),
                alt.Tooltip("positions:N"),
                alt.Tooltip("error:Q", title="difference", format=".2e"),
            ],
        )
    )
    return [chart.properties(width=820, height=240)]


@drawing("intervention_effects", columns=2)
def effects(figure: Figure[EffectsContent], look: Look) -> list[Chart]:
    """One panel an outcome: a dot and an interval for each intervention."""
    frame: Any = figure.frame()
    order = figure.content.order
    panels = []
    for outcome, label in figure.content.outcomes.items():
        base = alt.Chart(frame[frame.outcome == outcome]).encode(
            y=alt.Y("done:N", sort=order, axis=alt.Axis(title=None, labelLimit=240, ticks=False, domain=False)),
            tooltip=[
                alt.Tooltip("done:N", title="done"),
                alt.Tooltip("value:Q", title=label, format=".4f"),
                alt.Tooltip("low:Q", title="95 % from", format=".4f"),
                alt.Tooltip("high:Q", title="to", format=".4f"),
                alt.Tooltip("texts:Q"),
            ],
        )
        # From the right edge leftwards, under the names: a narrow screen has no room for it under the bars alone.
        axis = alt.Axis(title=label, titleAnchor="end")
        bars = base.mark_bar(color=look.series, opacity=0.35, height=8).encode(x=alt.X("value:Q", axis=axis))
        spans = base.mark_rule(strokeWidth=2, color=look.series).encode(x=alt.X("low:Q", axis=axis), x2="high:Q")
        dots = base.mark_point(filled=True, size=55, opacity=1, color=look.series).encode(x="value:Q")
        panels.append((bars + spans + dots).properties(width=330, height=24 * len(order)))
    return panels
