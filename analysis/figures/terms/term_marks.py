"""Marks that figures of terms share: bars of terms, and names at the ends of lines."""

import math
from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.core.formatting import percent, signed
from analysis.core.term_names import FOUR, SOURCES
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.terms.maps import REST
from analysis.figures.terms.measures import TERM, term_label
from analysis.figures.training.line_marks import NAME_HEIGHT, spread_names

COLOURS = {term_label(term): of_term(term) for term in FOUR} | {source: of_term(source) for source in SOURCES}
"""The colours of lines that stand for a term or a source."""
TICKS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The steps between the numbers of an axis of shares, of which one is taken that gives at most `MOST_TICKS`."""
MOST_TICKS = 6


def draw_bars(rows: pd.DataFrame, kind: str, theme: Theme, decimals: int = 4, *, share: bool = False) -> Chart:
    """One bar a term and one for the total, with its number beside it.

    rows: part and value. kind: names what the values are. decimals: of the numbers beside the bars.
    share: whether the values are parts of a whole, which are written in per cent.
    """
    frame = rows.assign(
        label=rows.part.map(term_label),
        written=[percent(value) if share else signed(value, decimals) for value in rows.value],
        below=rows.value < 0,
    )
    low, high = min(0.0, float(frame.value.min())), max(0.0, float(frame.value.max()))
    # Room for the numbers beside the bars, on a phone too.
    room = 0.5 * ((high - low) or 1.0)
    ends = (low - (room if low < 0 else 0.05 * room), high + room)
    form, values = (".0%", _ticks(low, high)) if share else (alt.Undefined, alt.Undefined)
    x = marks.number(alt.X, "value", kind, domain=ends, ticks=6, form=form, values=values)
    inks = {"total": theme.ink, REST: theme.faint}
    hues = {part: inks.get(part) or theme.colour(of_term(part)) for part in frame.part}
    base = alt.Chart(frame).encode(y=marks.rows_down("label", frame.label.tolist(), title=TERM, grid=False))
    bars = base.mark_bar(height=marks.BAR).encode(
        x=x, color=marks.hues("part", hues), tooltip=marks.tips(("label", "term"), ("value", "", ".6~g"))
    )
    layers = (bars, *marks.values_beside(base, theme, "below", x), marks.rule(theme, x=0))
    return marks.panel(*layers, theme=theme, width=620, height=marks.ROW * len(frame))


def _ticks(low: float, high: float) -> list[float]:
    """The numbers of an axis of shares, none of which lies further out than the next one after the bars' ends."""
    step = next((step for step in TICKS if (high - low) / step < MOST_TICKS), TICKS[-1])
    return [round(step * index, 2) for index in range(math.floor(low / step), math.ceil(high / step) + 1)]


def line_names(
    frame: pd.DataFrame, order: Sequence[str], y: alt.Y, theme: Theme, *, height: int, color: alt.Color | None = None
) -> list[Chart]:
    """The name of each series right of the plot, as near to the line's last value as others leave room, with its hue.

    frame: columns layer, series and value. y: the axis of the plot, which has a domain. color: the hues of the series;
    by default those of terms and sources.
    """
    last = frame.dropna(subset="value").sort_values("layer").groupby("series").value.last()
    ends = last.reindex([name for name in order if name in last.index])
    low, high = y["scale"]["domain"]
    sizes = np.full(len(ends), float(NAME_HEIGHT))
    pixels = spread_names(ends.to_numpy(dtype=float), sizes, (low, high), height)
    names = pd.DataFrame({"series": ends.index, "place": high - pixels / height * (high - low)})
    base = alt.Chart(names).encode(y=marks.same_axis(y, "place"), x=alt.value("width"))
    key = base.mark_rule(strokeWidth=marks.LINE, xOffset=6, x2Offset=18).encode(
        x2=alt.value("width"), color=color or series_hues(order, theme)
    )
    text = base.mark_text(align="left", baseline="middle", dx=23, fontSize=marks.TEXT, color=theme.ink)
    return [key, text.encode(text="series:N")]


def series_hues(names: Sequence[str], theme: Theme) -> alt.Color:
    """The colours of terms and sources, without a legend."""
    return marks.hues("series", {name: series_hue(name, theme) for name in names})


def series_hue(name: str, theme: Theme) -> str:
    """The colour of a term or a source, by its name."""
    return theme.ink if name == "total" else theme.colour(COLOURS.get(name, of_term("bias")))
