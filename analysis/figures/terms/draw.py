"""Drawings of attention's terms."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy import ndarray

from analysis.core.colours import of_term
from analysis.core.formatting import UNDEFINED, signed
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.heatmap import heatmap
from analysis.figures.terms.cell import CellContent
from analysis.figures.terms.data import FOUR, AggregatesContent, TermTable, term_label
from analysis.figures.terms.maps import REST, MapsContent, TotalContent
from analysis.figures.terms.patterns import PatternContent


def measured_colours(reach: float, measure: str, label: str, look: Look) -> tuple[alt.Color, Any]:
    """The colours of cells that hold a term's share or effect, up to `reach`, and of the numbers upon them."""
    if measure == "share":
        stops, domain = look.diverging, np.linspace(-min(reach, 1.0), min(reach, 1.0), len(look.diverging))
    else:
        stops, domain = look.sequential, np.linspace(0, reach, len(look.sequential))
    colour = alt.Color(
        "value:Q",
        scale=alt.Scale(domain=list(domain), range=stops, clamp=True, interpolate="rgb"),
        legend=alt.Legend(title=label, orient="bottom", gradientLength=220, format=".2~f", titleLimit=400),
    )
    strong = f"abs(datum.value) > {look.strong * domain[-1]}"
    return colour, look.ink_on_cells(strong)


@drawing("terms_heads", "probe_heads", "vision_heads")
def _heads(figure: Figure[TermTable], look: Look) -> list[Chart]:
    """Heads by terms, the number in every cell."""
    table, label = figure.content.table, figure.content.label
    values = table.to_numpy()
    reach = float(np.abs(np.nan_to_num(values)).max()) or 1.0
    colour, ink = measured_colours(reach, figure.content.measure, label, look)
    frame = table.reset_index().melt("head", var_name="term", value_name="value")
    frame["label"] = frame.term.map(term_label)
    # Adding 0 takes the sign off what rounds to nothing.
    frame["shown"] = [f"{round(v, 2) + 0:.2f}".replace("-", "−") if v == v else "–" for v in frame.value]
    order = [term_label(term) for term in table.columns]
    bare: dict[str, Any] = {"ticks": False, "domain": False, "labelOverlap": False}
    base = alt.Chart(frame).encode(
        x=alt.X(
            "label:N",
            sort=order,
            axis=alt.Axis(
                title=None, labelAngle=-65, labelLimit=160, orient="top", ticks=False, domain=False, labelOverlap=False
            ),
        ),
        y=alt.Y("head:O", axis=alt.Axis(title="head", **bare)),
        tooltip=[
            alt.Tooltip("head:O"),
            alt.Tooltip("label:N", title="term (query → key)"),
            alt.Tooltip("value:Q", title=label, format=".4f"),
        ],
    )
    cells = base.mark_rect().encode(color=colour)
    # On a phone the numbers would run into one another; tooltips and the data table still give them.
    numbers = base.mark_text(fontSize=12, opacity=alt.expr("width < 480 ? 0 : 1")).encode(
        text=alt.Text("shown:N"), color=ink
    )
    line = (
        alt.Chart(frame[frame.term == FOUR[-1]])
        .mark_rule(color=look.ink, strokeWidth=1.5)
        .encode(x=alt.X("label:N", sort=order, bandPosition=1))
    )
    # On screen the slanted names take their room from the height given, which few heads have none to spare of.
    names = 60 if look.screen and len(table) < 8 else 0
    return [(cells + numbers + line).properties(width=820, height=26 * len(table) + names)]


@drawing("terms_aggregates")
def _aggregates(figure: Figure[AggregatesContent], look: Look) -> list[Chart]:
    """A dot and an interval for each term; the two aggregations in two colours and two shapes."""
    order, label, two = (figure.content.order, figure.content.label, figure.content.two)
    names = ["mean over heads", "pooled over heads"]
    colour = alt.Color(
        "over:N",
        scale=alt.Scale(domain=names, range=look.many(2)),
        legend=alt.Legend(title=None, orient="top", direction="vertical") if two else None,
    )
    base = alt.Chart(figure.content.rows).encode(
        y=alt.Y("term_label:N", sort=order, axis=alt.Axis(title="term (query → key)", labelLimit=170, ticks=False)),
        yOffset=alt.YOffset("over:N", sort=names) if two else alt.Undefined,
        color=colour,
        tooltip=[
            alt.Tooltip("term_label:N", title="term"),
            alt.Tooltip("over:N", title="aggregation"),
            alt.Tooltip("value:Q", title=label, format=".4f"),
            alt.Tooltip("low:Q", title="95 % from", format=".4f"),
            alt.Tooltip("high:Q", title="to", format=".4f"),
        ],
    )
    bars = base.mark_bar(opacity=0.6 if look.dark else 0.45, height=8).encode(
        x=alt.X("value:Q", axis=alt.Axis(title=label))
    )
    spans = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"))
    dots = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=alt.X("value:Q"),
        shape=alt.Shape("over:N", scale=alt.Scale(domain=names, range=["circle", "diamond"]), legend=None),
    )
    zero = alt.Chart().mark_rule(color=look.faint).encode(x=alt.XDatum(0))
    return [(zero + bars + spans + dots).properties(width=620, height=(34 if two else 22) * len(order))]


def token_map(values: ndarray, labels: Sequence[str], reach: float, look: Look, **more: Any) -> Chart:
    """Scores of tokens against tokens, queries down and keys across, on a scale around zero."""
    return heatmap(
        values,
        labels,
        labels,
        domain=(-reach, reach),
        row_title="query",
        column_title="key",
        value_title="score",
        look=look,
        **more,
    )


def _share(share: float) -> str:
    return signed(share) if share == share else UNDEFINED


def _nats(effect: float) -> str:
    return f"{effect:.2f} nats" if effect == effect else UNDEFINED


@drawing("probe_maps")
def maps(figure: Figure[MapsContent], look: Look) -> list[Chart]:
    """One map a term, all on the scale of the head."""
    labels, reach = figure.content.labels, figure.content.reach
    share, effect = figure.content.share, figure.content.effect
    last_row = len(figure.content.maps) - figure.columns
    return [
        token_map(
            values,
            labels,
            reach,
            look,
            title=[term_label(term), f"share {_share(share[term])}, effect {_nats(effect[term])}"],
            legend=number >= last_row,
            side=330 if figure.columns == 2 else 260,
            first=figure.content.first,
        )
        for number, (term, values) in enumerate(figure.content.maps.items())
    ]


@drawing("probe_total", columns=3)
def total(figure: Figure[TotalContent], look: Look) -> list[Chart]:
    """The rest and the total on the scale of the terms; the pattern on its own."""
    labels, reach, pattern, first = (
        figure.content.labels,
        figure.content.reach,
        figure.content.pattern,
        figure.content.first,
    )
    scores = figure.content.scores.items()
    drawn = [token_map(values, labels, reach, look, title=name, side=330, first=first) for name, values in scores]
    softmax = heatmap(
        pattern,
        labels,
        labels,
        domain=(0, float(pattern.max())),
        row_title="query",
        column_title="key",
        value_title="attention probability",
        title="pattern (softmax of the total)",
        diverging=False,
        side=330,
        first=first,
        look=look,
    )
    return [*drawn, softmax]


@drawing("probe_cell", "depth_cell", "vision_cell", "vision_head")
def _cell(figure: Figure[CellContent], look: Look) -> list[Chart]:
    """One bar a term and one for the total, with its number beside it."""
    frame = figure.content.frame
    frame = frame.assign(shown=[signed(value, figure.content.decimals) for value in frame.value])
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    # Room for the numbers beside the bars, on a phone too.
    room = 0.5 * ((high - low) or 1.0)
    domain = [low - (room if low < 0 else 0.05 * room), high + room]
    base = alt.Chart(frame).encode(
        y=alt.Y("label:N", sort=None, axis=alt.Axis(title="term (query → key)", labelLimit=170, ticks=False)),
        x=alt.X(
            "value:Q",
            scale=alt.Scale(domain=domain, nice=False),
            axis=alt.Axis(title=figure.content.kind),
        ),
    )
    parts = list(frame.part)
    inks = {"total": look.ink, REST: look.faint}
    hues = [inks.get(part) or look.colour(of_term(part)) for part in parts]
    bars = base.mark_bar(height=12).encode(
        color=alt.Color("part:N", scale=alt.Scale(domain=parts, range=hues), legend=None),
        tooltip=[alt.Tooltip("label:N", title="term"), alt.Tooltip("value:Q", format=".6~g")],
    )
    ends: Any = (("up", ">=", "left", 4), ("down", "<", "right", -4))
    numbers = {
        side: base.transform_filter(f"datum.value {test} 0")
        .mark_text(align=align, dx=dx, color=look.ink)
        .encode(text=alt.Text("shown:N"))
        for side, test, align, dx in ends
    }
    zero = alt.Chart().mark_rule(color=look.faint).encode(x=alt.XDatum(0))
    return [(zero + bars + numbers["up"] + numbers["down"]).properties(width=620, height=22 * len(frame))]


@drawing("probe_patterns")
def pattern_map(figure: Figure[PatternContent], look: Look) -> list[Chart]:
    """One head's attention probabilities."""
    pattern, labels = figure.content.pattern, figure.content.labels
    return [
        heatmap(
            pattern,
            labels,
            labels,
            domain=(0, float(pattern.max())),
            row_title="query",
            column_title="key",
            value_title="attention probability",
            diverging=False,
            side=520,
            height=460,
            look=look,
        )
    ]
