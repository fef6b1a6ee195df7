"""Drawings of two decompositions side by side."""

import altair as alt

from analysis.figures import Figure
from analysis.figures.compare.data import CompareMapsContent, TwoSidesContent
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.terms.data import term_label
from analysis.figures.terms.draw import token_map


@drawing("compare_terms", "compare_cell", columns=2)
def _terms(figure: Figure[TwoSidesContent], look: Look) -> list[Chart]:
    """The two sides as dots joined by a line, and beside it the difference as bars, on one scale."""
    table, label = figure.content.table, figure.content.label
    order = [term_label(term) for term in table.index]
    wide = table.reset_index().assign(label=order)
    long = wide.melt(["term", "label"], ["left", "right"], var_name="side", value_name="value").dropna()
    reach = [
        float(min(0, wide[["left", "right", "difference"]].min().min())),
        float(wide[["left", "right", "difference"]].max().max()),
    ]
    y = alt.Y("label:N", sort=order, axis=alt.Axis(title="term (query → key)", labelLimit=170, ticks=False))
    x = alt.Scale(domain=reach, nice=True)
    zero = alt.Chart().mark_rule(color=look.faint).encode(x=alt.datum(0))
    line = (
        alt.Chart(wide).mark_rule(color=look.faint, strokeWidth=2).encode(y=y, x=alt.X("left:Q", scale=x), x2="right:Q")
    )
    names = ["left", "right"]
    dots = (
        alt.Chart(long)
        .mark_point(filled=True, size=70, opacity=1)
        .encode(
            y=y,
            x=alt.X("value:Q", scale=x, axis=alt.Axis(title=label)),
            color=alt.Color(
                "side:N",
                scale=alt.Scale(domain=names, range=look.many(2)),
                legend=alt.Legend(title=None, orient="top"),
            ),
            shape=alt.Shape("side:N", scale=alt.Scale(domain=names, range=["circle", "diamond"]), legend=None),
            tooltip=["label:N", "side:N", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    bars = (
        alt.Chart(wide)
        .mark_bar(height=9, opacity=0.7)
        .encode(
            y=y,
            x=alt.X("difference:Q", scale=x, axis=alt.Axis(title="difference")),
            # A key as high as that of the dots, so that rows stand level.
            color=alt.ColorDatum(
                "right minus left",
                type="nominal",
                scale=alt.Scale(range=[look.ink]),
                legend=alt.Legend(title=None, orient="top"),
            ),
            tooltip=["label:N", alt.Tooltip("difference:Q", format="+.4f")],
        )
    )
    height = 24 * len(order)
    return [
        (zero + line + dots).properties(width=380, height=height),
        (zero + bars).properties(width=300, height=height),
    ]


@drawing("compare_maps", columns=3)
def compare_maps(figure: Figure[CompareMapsContent], look: Look) -> list[Chart]:
    """Left, right, and the difference where there is one."""
    reach = figure.content.reach
    return [
        token_map(values, labels, reach, look, title=name, side=330)
        for name, (values, labels) in figure.content.maps.items()
    ]
