"""Drawings of attention's terms."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy import ndarray

from analysis.core.colours import of_term
from analysis.core.formatting import UNDEFINED, fixed, signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.heatmap import heatmap
from analysis.figures.terms.cell import CellContent
from analysis.figures.terms.data import FOUR, AggregatesContent, TermTable, term_label
from analysis.figures.terms.maps import REST, MapsContent, TotalContent
from analysis.figures.terms.measured_colours import measured_colours
from analysis.figures.terms.patterns import PatternContent

TERM = "term (query → key)"
AGGREGATION_LABELS = ("mean over heads", "pooled over heads")
MAP_SIDE = 330


@drawing("terms_heads", "probe_heads", "vision_heads")
def _heads(figure: Figure[TermTable], theme: Theme) -> list[Chart]:
    """Heads by terms, the number in every cell."""
    table, label = figure.content.table, figure.content.label
    limit = float(np.abs(np.nan_to_num(table.to_numpy())).max()) or 1.0
    color, ink = measured_colours(limit, figure.content.measure, label, theme)
    frame = table.reset_index().melt("head", var_name="term", value_name="value")
    frame = frame.assign(
        label=frame.term.map(term_label), written=["–" if value != value else fixed(value) for value in frame.value]
    )
    x = marks.columns_across("label", [term_label(term) for term in table.columns])
    base = alt.Chart(frame).encode(
        x=x,
        y=marks.categories(alt.Y, "head", "head"),
        tooltip=marks.tips("head", ("label", TERM), ("value", label, ".4f")),
    )
    # On a phone the numbers would run into one another; tooltips and the data table still give them.
    numbers = base.mark_text(fontSize=marks.TEXT, opacity=alt.expr("width < 480 ? 0 : 1"))
    layers = base.mark_rect().encode(color=color), numbers.encode(text=alt.Text("written:N"), color=ink)
    four = alt.Chart(frame[frame.term == FOUR[-1]]).mark_rule(color=theme.ink, strokeWidth=1.5)
    end = x.copy()
    end["bandPosition"] = 1
    # On screen the slanted names take their room from the height given, which few heads have none to spare of.
    names_height = 60 if theme.screen and len(table) < 8 else 0
    height = 26 * len(table) + names_height
    return [marks.panel(*layers, four.encode(x=end), theme=theme, width=marks.WIDE, height=height)]


@drawing("terms_aggregates")
def _aggregates(figure: Figure[AggregatesContent], theme: Theme) -> list[Chart]:
    """A dot and an interval for each term; the two aggregations in two colours and two shapes."""
    order, label, two = figure.content.order, figure.content.label, figure.content.two
    key = marks.legend(place="top") if two else None
    dots = marks.row_plot(
        figure.content.rows, x=marks.number(alt.X, "value", label, zero=True, ticks=8),
        y=marks.rows_down("term_label", order, title=TERM, grid=False), theme=theme,
        color=marks.series("over", AGGREGATION_LABELS, theme, key), shape=marks.shapes("over", AGGREGATION_LABELS, key),
        offset=alt.YOffset("over:N", sort=list(AGGREGATION_LABELS)) if two else alt.Undefined, bars=True,
        tooltip=(("term_label", "term"), ("over", "aggregation"), ("value", label, ".4f"), *marks.interval_tips(".4f")),
    )  # fmt: skip
    height = (34 if two else marks.ROW) * len(order)
    return [marks.panel(marks.rule(theme, x=0), *dots, theme=theme, width=620, height=height)]


def token_map(
    values: ndarray,
    labels: Sequence[str],
    limit: float,
    theme: Theme,
    *,
    value: str = "score",
    around_zero: bool = True,
    side: int = MAP_SIDE,
    **options: Any,
) -> Chart:
    """Scores of tokens on tokens, queries down and keys across, on a scale around zero or from it."""
    return heatmap(
        values, labels, labels, domain=(-limit if around_zero else 0, limit), row_title="query", column_title="key",
        value_title=value, side=side, theme=theme, **options,
    )  # fmt: skip


def pattern_map(
    pattern: ndarray, labels: Sequence[str], theme: Theme, limit: float | None = None, **options: Any
) -> Chart:
    """Attention probabilities of tokens for tokens. limit: where their scale ends; by default their maximum."""
    maximum = float(pattern.max()) if limit is None else limit
    return token_map(pattern, labels, maximum, theme, value="attention probability", around_zero=False, **options)


@drawing("probe_maps")
def maps(figure: Figure[MapsContent], theme: Theme) -> list[Chart]:
    """One map a term, all on the scale of the head."""
    content = figure.content
    last_row = len(content.maps) - figure.columns
    return [
        token_map(
            values, content.labels, content.limit, theme,
            title=[term_label(term), share_and_effect(*content.share_and_effect(term))],
            legend=index >= last_row, side=MAP_SIDE if figure.columns == 2 else 260, first=content.first,
        )
        for index, (term, values) in enumerate(content.maps.items())
    ]  # fmt: skip


def share_and_effect(share: float, effect: float) -> str:
    """A term's share and effect in one head, in words."""
    return f"share {signed(share)}, effect {UNDEFINED if effect != effect else f'{effect:.2f} nats'}"


@drawing("probe_total", columns=3)
def total(figure: Figure[TotalContent], theme: Theme) -> list[Chart]:
    """The rest and the total on the scale of the terms; the pattern on its own."""
    content, first = figure.content, figure.content.first
    return [
        *(
            token_map(values, content.labels, content.limit, theme, title=name, first=first)
            for name, values in content.scores.items()
        ),
        pattern_map(content.pattern, content.labels, theme, title="pattern (softmax of the total)", first=first),
    ]


@drawing("probe_cell", "depth_cell", "vision_cell", "vision_head")
def _cell(figure: Figure[CellContent], theme: Theme) -> list[Chart]:
    """One bar a term and one for the total, with its number beside it."""
    frame = figure.content.frame
    frame = frame.assign(
        written=[signed(value, figure.content.decimals) for value in frame.value], below=frame.value < 0
    )
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    # Room for the numbers beside the bars, on a phone too.
    room = 0.5 * ((high - low) or 1.0)
    x = marks.number(
        alt.X, "value", figure.content.kind, domain=(low - (room if low < 0 else 0.05 * room), high + room)
    )
    inks = {"total": theme.ink, REST: theme.faint}
    hues = {part: inks.get(part) or theme.colour(of_term(part)) for part in frame.part}
    base = alt.Chart(frame).encode(y=marks.rows_down("label", frame.label.tolist(), title=TERM, grid=False))
    bars = base.mark_bar(height=marks.BAR).encode(
        x=x, color=marks.hues("part", hues), tooltip=marks.tips(("label", "term"), ("value", "", ".6~g"))
    )
    layers = (bars, *marks.values_beside(base, theme, "below", x), marks.rule(theme, x=0))
    return [marks.panel(*layers, theme=theme, width=620, height=marks.ROW * len(frame))]


@drawing("probe_patterns")
def patterns(figure: Figure[PatternContent], theme: Theme) -> list[Chart]:
    """One head's attention probabilities."""
    return [pattern_map(figure.content.pattern, figure.content.labels, theme, side=520, height=460)]
