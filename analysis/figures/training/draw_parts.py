"""The drawing of what lies between two variants: one row a change, one panel a way."""

import textwrap

import altair as alt
import pandas as pd

from analysis.core.formatting import signed
from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import heading, same_axis
from analysis.figures.training.draw_gaps import blue, rule

ROW, WIDE = 44, 250
LINE = 24
"""Characters of a label's line."""


@drawing("training_parts", columns=2)
def parts(figure: Figure, look: Look) -> list[Chart]:
    """Differences with their intervals, on one scale for both ways."""
    table = figure.content["table"]
    ends = [0.0, *table[["gap", "low", "high"]].clip(-_most(table), _most(table)).stack()]
    x = alt.X(
        "gap:Q", title="nats, after minus before", axis=alt.Axis(tickCount=5),
        scale=alt.Scale(domain=[min(ends), max(ends)], nice=True, clamp=True, padding=8),
    )  # fmt: skip
    panels = []
    for way in figure.content["ways"]:
        rows = table[table.way == way].assign(
            label=lambda own: own.change.map(_lines), written=lambda own: own.gap.map(lambda gap: signed(gap))
        )
        y = alt.Y(
            "label:N", sort=rows.label.tolist(), title=None,
            axis=alt.Axis(labelLimit=190, labelExpr="split(datum.label, '|')", ticks=False, domain=False, grid=True),
        )  # fmt: skip
        shown = rows[["label", "before", "after", "gap", "low", "high", "n", "p", "p_holm", "told_apart", "written"]]
        tips = [
            "before:N", "after:N", alt.Tooltip("gap:Q", title="difference", format="+.3f"),
            alt.Tooltip("low:Q", title="95 % interval from", format="+.3f"),
            alt.Tooltip("high:Q", title="to", format="+.3f"), alt.Tooltip("n:Q", title="seeds"),
            alt.Tooltip("p:Q", format=".2~g"), alt.Tooltip("p_holm:Q", title="p, Holm", format=".2~g"),
        ]  # fmt: skip
        base = alt.Chart(shown).encode(y=y)
        fill = alt.condition("datum.told_apart", alt.value(blue(look)), alt.value(look.ground))
        panels.append(
            alt.layer(
                rule(0, look),
                base.transform_filter("isValid(datum.low)")
                .mark_rule(color=blue(look), strokeWidth=2)
                .encode(x=same_axis(x, "low"), x2="high:Q"),
                base.mark_point(size=75, shape="diamond", opacity=1, stroke=blue(look), strokeWidth=1.6).encode(
                    x=x, fill=fill, tooltip=tips
                ),
                base.mark_text(align="left", dx=6, fontSize=12, color=look.ink).encode(
                    x=alt.value("width"), text="written:N"
                ),
            ).properties(width=WIDE, height=ROW * len(rows), title=heading(way, look=look))
        )
    return panels


def _most(table: pd.DataFrame) -> float:
    """How far the axis goes: made for the differences, as an interval of two seeds may be ten times as wide."""
    return 1.6 * float(table.gap.abs().max()) or 1.0


def _lines(text: str) -> str:
    """The words in lines, with | between them."""
    return "|".join(textwrap.wrap(text, LINE))
