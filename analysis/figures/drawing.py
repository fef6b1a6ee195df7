"""The common base of all drawings: their colours and fonts, and the assembly of panels into one picture."""

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from altair.typing import ChartType
from altair.utils.schemapi import disable_debug_mode

from analysis.core import colours
from analysis.core.colours import Colour
from analysis.core.formatting import unbroken
from analysis.figures import Figure

# Altair would hold every part against its schema as it is made, and the chart as a whole again when it is written.
# The second finds all that the first does; the first takes half of the time.
disable_debug_mode()

Chart = ChartType
"""An Altair chart of any kind."""

GREEN, VERMILION, GREY = "#009E73", "#D55E00", "#8a8f98"
SERIES = (
    colours.INK,
    *(
        Colour(light, dark)
        for light, dark in (
            ("#00796b", "#2fb8a3"),
            ("#7a7f1c", "#b9bd4a"),
            ("#a3348f", "#e07bd0"),
            ("#8a6fb8", "#b79df0"),
            ("#d4638c", "#ff9db8"),
            ("#2f9e84", "#8fe0cf"),
        )
    ),
)
"""The colours of series that have no meaning of their own, such as two models, in the order in which they get them.

One alone is drawn in ink. None is blue or orange, which are for words and positions. What has a meaning has its colour
in analysis/core/colours.
"""

TITLE_CHARACTERS = 90
"""The number of characters after which a title is broken into a new line."""
FONT = "Source Sans Pro"
"""The dashboard's own typeface; a package has it, and exports carry it, so that they look alike on every machine."""


_UNPRINTABLE = dict.fromkeys([*(set(range(32)) - {9, 10, 13}), *range(127, 160), 0xFFFE, 0xFFFF], "\ufffd")


def printable(text: str) -> str:
    """The text without characters that XML, and so every export, forbids: they would end the whole process."""
    return text.translate(_UNPRINTABLE)


@dataclass(frozen=True)
class Theme:
    """Light or dark ground, on screen or in an export; exports are light."""

    dark: bool = False
    screen: bool = False

    @property
    def ink(self) -> str:
        """Text and reference lines drawn inside a chart."""
        return self.colour(colours.INK)

    @property
    def ground(self) -> str:
        """The colour of the page behind a chart, used for the halos that keep lines off digits."""
        return self.colour(colours.GROUND)

    @property
    def faint(self) -> str:
        """Rules that should not call attention."""
        return "#5b5f6b" if self.dark else "#c9ccd3"

    @property
    def grid(self) -> str:
        """Lines of a grid."""
        return "#2b313d" if self.dark else "#e6e8ec"

    @property
    def diverging(self) -> list[str]:
        """Stops of a scale whose middle is zero: violet below it, the ground at it, green above."""
        return colours.DIVERGING[self.dark]

    def around_zero(self, limit: float) -> alt.Scale:
        """The colours of values from -limit to limit."""
        return colour_scale(self.diverging, (-limit, limit))

    def gains(self, limit: float) -> alt.Scale:
        """The colours of changes from -limit to limit: violet for the worse, green for the better."""
        return self.around_zero(limit)

    @property
    def sequential(self) -> list[str]:
        """Stops of a scale that begins at zero, which is the ground."""
        return colours.SEQUENTIAL[self.dark]

    @property
    def series(self) -> str:
        """One series that has no meaning of its own."""
        return self.many(1)[0]

    def many(self, count: int) -> list[str]:
        """Colours for `count` series that have no meaning of their own; they repeat after the last."""
        return [self.colour(SERIES[index % len(SERIES)]) for index in range(count)]

    def colour(self, meaning: Colour) -> str:
        """A meaning's colour on this ground."""
        return meaning.on(dark=self.dark)

    @property
    def strong(self) -> float:
        """The fraction of a colour scale beyond which digits on a cell change their colour."""
        return colours.STRONG[self.dark]

    def ink_on_cells(self, strong: str) -> Any:
        """The colour of digits on a scale's cells, as a condition. strong: the Vega test that a cell is far from 0."""
        on_pale, on_strong = colours.DIGITS[self.dark]
        return alt.condition(strong, alt.value(on_strong), alt.value(on_pale))


def colour_scale(stops: Sequence[str], domain: tuple[float, float]) -> alt.Scale:
    """The colours of values from one end of a domain to the other; those beyond have the colour of the end."""
    positions = list(np.linspace(*domain, len(stops)))
    return alt.Scale(domain=positions, range=list(stops), clamp=True, interpolate="rgb")


def part_around_zero(stops: Sequence[str], low: float, high: float) -> alt.Scale:
    """The part from `low` to `high` of a scale around zero: equal distances from zero are equally strong.

    A scale of which one half has no value in it would show colours in its legend that no cell has.
    """
    low, high = min(low, 0.0), max(high, 0.0)
    limit = max(-low, high) or 1.0
    inner = [at for at in np.linspace(-limit, limit, len(stops)).tolist() if low < at < high]
    positions = [low, *inner, high] if low < high else [-limit, limit]
    channels = np.array([[int(stop[k : k + 2], 16) for k in (1, 3, 5)] for stop in stops], dtype=float)
    where = np.linspace(-limit, limit, len(stops))
    mixed = [[round(float(np.interp(at, where, channels[:, c]))) for c in range(3)] for at in positions]
    colours_at = ["#" + "".join(f"{channel:02x}" for channel in one) for one in mixed]
    return alt.Scale(domain=positions, range=colours_at, clamp=True, interpolate="rgb")


def panels(figure: Figure, theme: Theme | None = None) -> Sequence[Chart]:
    """The panels of a figure."""
    return figure.draw(theme or Theme())


def columns(figure: Figure) -> int:
    """The number of panels of a figure that stand side by side."""
    return figure.columns


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
    if isinstance(inner := getattr(chart, "spec", None), ChartType):
        replace_data(inner, replacement)


LOCALE = {"number": {"decimal": ".", "thousands": ",", "grouping": [3], "currency": ["$", ""], "percent": "\u00a0%"}}
"""Vega's locale: a space before the percent sign, as in our sentences."""


def themed(chart: Chart, theme: Theme) -> Chart:
    """The chart itself, with the letters, axes and legends of all that leaves the page as a file."""
    letters = {"labelFontSize": 12, "titleFontSize": 12, "labelColor": theme.ink, "titleColor": theme.ink}
    # Each of Altair's methods would copy the whole chart.
    chart.config = alt.Config(
        font=FONT,
        locale=LOCALE,
        axis=alt.AxisConfig(**letters, gridColor=theme.grid, titleFontWeight="normal"),
        legend=alt.LegendConfig(**letters, titleLimit=400, labelLimit=320, titleFontWeight="normal"),
        title=alt.TitleConfig(color=theme.ink, subtitleColor=theme.ink),
        view=alt.ViewConfig(strokeWidth=0),
        rule=alt.RectConfig(aria=False),
    )
    return chart


def compose(figure: Figure) -> Chart:
    """The whole figure as one light picture, as it is exported."""
    charts = panels(figure)
    # Each panel keeps the scale it was drawn on; a shared one is given to every panel as its domain. One panel is
    # put into a row as well, lest the figure's title replace its own.
    combined = alt.concat(
        *charts,
        columns=columns(figure),
        resolve=alt.Resolve(scale=alt.ScaleResolveMap(color="independent", shape="independent")),
        title=alt.TitleParams(
            textwrap.wrap(unbroken(figure.heading), TITLE_CHARACTERS),
            subtitle=figure.title if figure.finding else "",
            anchor="start",
            fontSize=15,
            subtitleFontSize=12,
            offset=12,
        ),
        background="white",
    )
    return themed(combined, Theme())
