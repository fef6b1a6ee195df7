"""Drawings of the guided reading's other figures: the sum of a real model, and order without positions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import TERMS
from analysis.figures import Figure, marks
from analysis.figures.drawing import VERMILION, Chart, Theme, drawing
from analysis.figures.reading.order import ROUNDING, SEEDS, OrderContent
from analysis.figures.reading.orthogonal import CosinesContent
from analysis.figures.reading.shift import ShiftContent
from analysis.figures.reading.sum import SumContent


@drawing("reading_sum")
def strips(figure: Figure[SumContent], theme: Theme) -> list[Chart]:
    """A strip a summand, one for the sum, on one scale."""
    values, names, limit = figure.content.values, figure.content.names, figure.content.limit
    row, column = (index.ravel() for index in np.indices(values.shape))
    frame = pd.DataFrame(
        {"part": np.array(names)[row], "dimension": column, "end": column + 1, "value": values.ravel()}
    )
    key = marks.legend("value (colours end at the 99.5th percentile)")
    cells = alt.Chart(frame).mark_rect()
    cells = cells.encode(
        x=marks.number(alt.X, "dimension", "dimension", domain=(0, values.shape[1]), ticks=6, grid=False),
        x2=alt.X2("end:Q"),
        y=marks.categories(alt.Y, "part", None, names),
        color=alt.Color("value:Q", scale=theme.around_zero(limit), legend=key),
        tooltip=marks.tips("part", "dimension", ("value", "", ".4f")),
    )
    return [marks.panel(cells, theme=theme, width=marks.WIDE, height=200)]


@drawing("reading_order", columns=2)
def order(figure: Figure[OrderContent], theme: Theme) -> list[Chart]:
    """A bar a word; a panel with every word in sight, and one with those before alone."""
    content, results = figure.content, []
    y = marks.number(alt.Y, "change", "change of the output (share of its length)", domain=(0, 1.05 * content.top))
    for mask, colour in zip(content.masks, theme.many(2), strict=True):
        base = alt.Chart(content.frame[content.frame["mask"] == mask]).encode(
            x=marks.categories(alt.X, "word", "word, in the first order", content.words),
            y=y,
            tooltip=marks.tips(
                "word", ("change", "mean change", ".3g"), ("low", "smallest", ".3g"), ("high", "largest", ".3g")
            ),
        )
        spans = base.mark_rule(color=theme.ink).encode(y=marks.same_axis(y, "low"), y2=alt.Y2("high:Q"))
        # Beside the line, at the bar's top, where no number can be taken for the end of a line.
        numbers = base.mark_text(dx=-11, dy=-6, color=theme.ink, fontSize=marks.TEXT)
        # A change that is rounding is printed as none.
        printed = f"datum.change < {ROUNDING} ? '0' : format(datum.change, '.1f')"
        numbers = numbers.transform_calculate(printed=printed).encode(text=alt.Text("printed:N"))
        bars = base.mark_bar(color=colour)
        results.append(
            marks.panel(
                bars,
                spans,
                numbers,
                marks.rule(theme, y=0),
                theme=theme,
                width=marks.HALF,
                height=240,
                title=mask,
                below=[f"bar: mean of {SEEDS} networks; line: smallest to largest"],
            )
        )
    return results


@drawing("reading_shift")
def shift(figure: Figure[ShiftContent], theme: Theme) -> list[Chart]:
    """A line a head; the chosen one stands out and is named at its end."""
    frame, head = figure.content.frame, figure.content.head
    x = marks.number(alt.X, "shift", "positions that the sentence is moved by", nice=False)
    y = marks.number(alt.Y, "change", "attention that goes elsewhere", form="%")
    tooltip: tuple[marks.Tip, ...] = ("head", ("shift", "moved by"), ("change", "attention that goes elsewhere", ".1%"))
    chosen = frame[frame["head"] == head]
    layers = [
        *marks.line_plot(
            frame[frame["head"] != head], x=x, y=y, theme=theme, color=theme.faint, detail="head:N", width=1, dots=0,
            tooltip=tooltip,
        ),
        *marks.line_plot(
            chosen, x=x, y=y, theme=theme, color=theme.colour(TERMS["position"]), width=3, dots=0, tooltip=tooltip
        ),
    ]  # fmt: skip
    end = alt.Chart(chosen.nlargest(1, "shift")).mark_text(align="left", dx=5, color=theme.ink, fontSize=marks.TEXT)
    label = end.encode(x=x, y=y, text=alt.value(f"head {head}"))
    return [marks.panel(*layers, label, theme=theme, width=marks.WIDE, height=260)]


@drawing("reading_orthogonal")
def orthogonal(figure: Figure[CosinesContent], theme: Theme) -> list[Chart]:
    """Bars of the cosine's distribution, and the mean of its size on both sides."""
    frame, mean, top = figure.content.frame, figure.content.mean, figure.content.top
    bars = alt.Chart(frame).mark_bar(color=theme.series, binSpacing=0)
    bars = bars.encode(
        x=marks.number(alt.X, "low", "cosine of the two vectors", domain=(-1, 1)),
        x2=alt.X2("high:Q"),
        y=marks.number(alt.Y, "share", "share of pairs", domain=(0, 1.05 * top), form=".1%"),
        y2=alt.datum(0),
        tooltip=marks.tips(("low", "cosine from", ".2f"), ("high", "to", ".2f"), ("share", "share of pairs", ".2%")),
    )
    lines = alt.Chart(pd.DataFrame({"at": [-mean, mean]}))
    means = lines.mark_rule(color=VERMILION, strokeWidth=marks.LINE, strokeDash=marks.DASH).encode(x=alt.X("at:Q"))
    title = f"mean size of the cosine {mean:.3f} (dashed)"
    return [marks.panel(bars, means, theme=theme, width=marks.WIDE, height=260, title=title)]
