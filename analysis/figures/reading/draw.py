"""Drawings of the guided reading's other figures: the sum of a real model, and order without positions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS
from analysis.figures import Figure
from analysis.figures.drawing import VERMILION, Chart, Look, drawing
from analysis.figures.reading.order import OrderContent
from analysis.figures.reading.orthogonal import CosinesContent
from analysis.figures.reading.shift import ShiftContent
from analysis.figures.reading.sum import SumContent


@drawing("reading_sum")
def strips(figure: Figure[SumContent], look: Look) -> list[Chart]:
    """A strip a summand, one for the sum, on one scale."""
    values, names, reach = (figure.content.values, figure.content.names, figure.content.reach)
    row, column = np.indices(values.shape)
    frame = pd.DataFrame({"part": np.array(names)[row.ravel()], "dimension": column.ravel(), "value": values.ravel()})
    width = values.shape[1]
    cells = (
        alt.Chart(frame.assign(end=frame.dimension + 1))
        .mark_rect()
        .encode(
            x=alt.X(
                "dimension:Q",
                title="dimension",
                scale=alt.Scale(domain=[0, width], nice=False),
                axis=alt.Axis(grid=False, tickCount=6),
            ),
            x2="end:Q",
            y=alt.Y("part:N", sort=names, title=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=140)),
            color=alt.Color(
                "value:Q",
                scale=look.around_zero(reach),
                legend=alt.Legend(
                    title="value (colours end at the 99.5th percentile)", orient="bottom", titleLimit=320
                ),
            ),
            tooltip=["part:N", "dimension:Q", alt.Tooltip("value:Q", format=".4f")],
        )
    )
    return [cells.properties(width=620, height=200)]


@drawing("reading_order", columns=2)
def order(figure: Figure[OrderContent], look: Look) -> list[Chart]:
    """A bar a word; a panel with every word in sight, and one with those before alone."""
    frame, masks, words, top = (figure.content.frame, figure.content.masks, figure.content.words, figure.content.top)
    results = []
    for mask, colour in zip(masks, look.many(2), strict=True):
        base = alt.Chart(frame[frame["mask"] == mask]).encode(
            x=alt.X("word:N", sort=words, axis=alt.Axis(title="word, in the first order", labelAngle=0)),
            tooltip=[
                "word:N",
                alt.Tooltip("change:Q", title="mean change", format=".3g"),
                alt.Tooltip("low:Q", title="smallest", format=".3g"),
                alt.Tooltip("high:Q", title="largest", format=".3g"),
            ],
        )
        scale = alt.Scale(domain=[0, top * 1.05], nice=False)
        bars = base.mark_bar(color=colour).encode(
            y=alt.Y("change:Q", title="change of the output (share of its length)", scale=scale)
        )
        spans = base.mark_rule(color=look.ink).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q")
        # Beside the line, at the bar's top, where no number can be taken for the end of a line.
        numbers = base.mark_text(dx=-11, dy=-6, color=look.ink, fontSize=12).encode(
            y=alt.Y("change:Q", scale=scale), text=alt.Text("change:Q", format=".1g")
        )
        results.append((bars + spans + numbers).properties(width=380, height=240, title=mask))
    return results


@drawing("reading_shift")
def shift(figure: Figure[ShiftContent], look: Look) -> list[Chart]:
    """A line a head; the chosen one stands out and is named at its end."""
    frame, head = figure.content.frame, figure.content.head
    axes = {
        "x": alt.X("shift:Q", title="positions that the sentence is moved by", scale=alt.Scale(nice=False)),
        "y": alt.Y("change:Q", title="attention that goes elsewhere", axis=alt.Axis(format="%")),
    }
    tips = [
        alt.Tooltip("head:O", title="head"),
        alt.Tooltip("shift:Q", title="moved by"),
        alt.Tooltip("change:Q", title="attention that goes elsewhere", format=".1%"),
    ]
    others = (
        alt.Chart(frame[frame["head"] != head])
        .mark_line(color=look.faint, strokeWidth=1)
        .encode(**axes, detail="head:O", tooltip=tips)
    )
    chosen = alt.Chart(frame[frame["head"] == head])
    line = chosen.mark_line(color=look.colour(TERMS["position"]), strokeWidth=3).encode(**axes, tooltip=tips)
    end = (
        alt.Chart(frame[(frame["head"] == head) & (frame["shift"] == frame["shift"].max())])
        .mark_text(align="left", dx=5, color=look.ink, fontSize=12)
        .encode(**axes, text=alt.value(f"head {head}"))
    )
    return [(others + line + end).properties(width=600, height=260)]


@drawing("reading_orthogonal")
def orthogonal(figure: Figure[CosinesContent], look: Look) -> list[Chart]:
    """Bars of the cosine's distribution, and the mean of its size on both sides."""
    frame, mean, top = (figure.content.frame, figure.content.mean, figure.content.top)
    bars = (
        alt.Chart(frame)
        .mark_bar(color=look.series, binSpacing=0)
        .encode(
            x=alt.X("low:Q", title="cosine of the two vectors", scale=alt.Scale(domain=[-1, 1])),
            x2="high:Q",
            y2=alt.datum(0),
            y=alt.Y(
                "share:Q",
                title="share of pairs",
                scale=alt.Scale(domain=[0, top * 1.05], nice=False),
                axis=alt.Axis(format=".1%"),
            ),
            tooltip=[
                alt.Tooltip("low:Q", title="cosine from", format=".2f"),
                alt.Tooltip("high:Q", title="to", format=".2f"),
                alt.Tooltip("share:Q", title="share of pairs", format=".2%"),
            ],
        )
    )
    ends = pd.DataFrame({"at": [-mean, mean]})
    rules = alt.Chart(ends).mark_rule(color=VERMILION, strokeWidth=2, strokeDash=[5, 3]).encode(x="at:Q")
    return [
        (bars + rules).properties(
            width=620,
            height=260,
            title=alt.TitleParams(
                f"mean size of the cosine {mean:.3f} (dashed)", fontSize=13, anchor="start", fontWeight="normal"
            ),
        )
    ]
