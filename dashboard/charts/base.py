"""What all drawings share: their registry, colours, fonts, and how panels become one picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from analysis.figures import Figure
from analysis.registry import Registry

Chart = Any
"""An Altair chart of any kind."""

# Okabe & Ito (2008): told apart by readers of every kind of colour vision.
BLUE, ORANGE, GREEN, PINK, SKY, VERMILION, GREY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#8a8f98",
)
DIVERGING = ["#08519c", "#3b8bc2", "#9ecae1", "#f4f3f0", "#fdbe85", "#e6701e", "#8c2d04"]
"""Blue below zero, near-white at zero, orange above."""
SEQUENTIAL = ["#f4f3f0", "#b9d3e6", "#6ba3cc", "#2a6fa8", "#0a3a6b"]

FONT = "Source Sans Pro"
"""The dashboard's own typeface; a package has it, and exports carry it, so that they look alike on every machine."""


_UNPRINTABLE = dict.fromkeys([*(set(range(32)) - {9, 10, 13}), *range(127, 160), 0xFFFE, 0xFFFF], "\ufffd")


def printable(text: str) -> str:
    """The text without characters that XML, and so every export, forbids: they would end the whole process."""
    return text.translate(_UNPRINTABLE)


@dataclass(frozen=True)
class Look:
    """Light or dark ground, on screen or in an export; exports are light."""

    dark: bool = False
    screen: bool = False

    @property
    def ink(self) -> str:
        """Text and reference lines drawn inside a chart."""
        return "#e6e6ea" if self.dark else "#31333f"

    @property
    def ground(self) -> str:
        """What a chart stands on: halos that keep lines off digits."""
        return "#0e1117" if self.dark else "white"

    @property
    def faint(self) -> str:
        """Rules that should not call attention."""
        return "#5b5f6b" if self.dark else "#c9ccd3"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Draws a figure as panels that stand `columns` abreast, unless the figure's content says how many."""

    draw: Callable[[Figure, Look], list[Chart]]
    columns: int = 1


CHARTS: Registry[Drawing] = Registry("drawing")


def drawing(name: str, *, columns: int = 1) -> Callable[[Callable[[Figure, Look], list[Chart]]], Any]:
    """Registers a function (figure, look) -> panels under a figure's name."""

    def register(draw: Callable[[Figure, Look], list[Chart]]) -> Callable[[Figure, Look], list[Chart]]:
        CHARTS.add(name, Drawing(draw=draw, columns=columns))
        return draw

    return register


def ending(x: alt.X, field: str) -> alt.X:
    """The same axis for another column."""
    other = x.copy()
    other["shorthand"] = f"{field}:Q"
    return other


def panels(figure: Figure, look: Look | None = None) -> list[Chart]:
    """The panels of a figure."""
    return CHARTS[figure.name].draw(figure, look or Look())


def columns(figure: Figure) -> int:
    """How many panels of a figure stand abreast."""
    return figure.content.get("columns", CHARTS[figure.name].columns)


def replace_data(chart: Chart, replacement: Callable[[pd.DataFrame], Any]) -> None:
    """Puts something in the place of every frame of a chart.

    Altair would turn frames into rows by a setting that all threads share: it refuses frames of over
    5,000 rows, and while another thread draws it may take the data out.
    """
    if isinstance(chart.data, pd.DataFrame):
        chart.data = replacement(chart.data)
    for parts in ("layer", "concat", "hconcat", "vconcat"):
        for part in getattr(chart, parts, ()):
            replace_data(part, replacement)
    if isinstance(inner := getattr(chart, "spec", None), alt.TopLevelMixin):
        replace_data(inner, replacement)


def compose(figure: Figure) -> Chart:
    """The whole figure as one light picture, as it is exported."""
    drawn = panels(figure)
    ink = Look().ink
    # Each panel keeps the scale it was drawn on; a shared one is given to every panel as its domain. One panel is
    # put into a row as well, lest the figure's title replace its own.
    whole = alt.concat(*drawn, columns=columns(figure)).resolve_scale(color="independent", shape="independent")
    return (
        whole.properties(
            title=alt.TitleParams(figure.title, anchor="start", fontSize=15, offset=12), background="white"
        )
        .configure(font=FONT)
        .configure_axis(
            labelFontSize=11,
            titleFontSize=12,
            labelColor=ink,
            titleColor=ink,
            gridColor="#e6e8ec",
            titleFontWeight="normal",
        )
        .configure_legend(labelFontSize=11, titleFontSize=12, titleLimit=400, labelLimit=320, titleFontWeight="normal")
        .configure_view(strokeWidth=0)
    )
