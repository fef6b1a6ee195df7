"""Drawings of two decompositions side by side."""

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.compare.data import CompareMapsContent, TwoSidesContent
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.terms.data import term_label
from analysis.figures.terms.draw import TERM, token_map

SIDES = ("left", "right")


@drawing("compare_terms", "compare_cell", columns=2)
def _terms(figure: Figure[TwoSidesContent], theme: Theme) -> list[Chart]:
    """The two sides as dots joined by a line, and beside it the difference as bars, on one scale."""
    table, label = figure.content.table, figure.content.label
    order = [term_label(term) for term in table.index]
    wide = table.reset_index().assign(label=order, what="right minus left")
    values = wide[[*SIDES, "difference"]]
    domain = (min(0.0, float(values.min().min())), float(values.max().max()))
    x = marks.number(alt.X, "value", label, domain=domain, nice=True, ticks=6)
    change = marks.number(alt.X, "difference", "difference", domain=domain, nice=True, ticks=6)
    y = marks.rows_down("label", order, title=TERM, grid=False)
    key = marks.legend(place="top", columns=2)
    lines = alt.Chart(wide).mark_rule(color=theme.faint, strokeWidth=marks.LINE)
    dots = marks.row_plot(
        wide.melt(["term", "label"], list(SIDES), "side", "value").dropna(), x=x, y=y, theme=theme, ends=None,
        color=marks.series("side", SIDES, theme, key), shape=marks.shapes("side", SIDES, key),
        tooltip=(("label", "term"), "side", ("value", "", ".4f")),
    )  # fmt: skip
    bars = alt.Chart(wide).mark_bar(height=marks.BAR).encode(
        x=change, y=y, tooltip=marks.tips(("label", "term"), ("difference", "", "+.4f")),
        # A legend as high as that of the dots, so that rows stand level.
        color=marks.hues("what", {"right minus left": theme.ink}, key),
    )  # fmt: skip
    joined = lines.encode(y=y, x=marks.same_axis(x, "left"), x2=alt.X2("right:Q")), *dots
    return [
        marks.panel(marks.rule(theme, x=0), *layers, theme=theme, width=marks.HALF, height=marks.ROW * len(order))
        for layers in (joined, (bars,))
    ]


@drawing("compare_maps", columns=3)
def compare_maps(figure: Figure[CompareMapsContent], theme: Theme) -> list[Chart]:
    """Maps of the left side, the right side and, if there is one, the difference."""
    return [
        token_map(values, labels, figure.content.limit, theme, title=name)
        for name, (values, labels) in figure.content.maps.items()
    ]
