"""The marks of figures with one row a variant: means, differences, seeds, and texts at the right."""

from collections.abc import Iterable, Sequence
from typing import Literal

import altair as alt
import pandas as pd
from altair.utils.schemapi import UndefinedType

from analysis.ablation.variants import WAYS, way
from analysis.core import colours
from analysis.figures import marks
from analysis.figures.drawing import GREY, Chart, Theme

TRIANGLE = "triangle-right"
RING = 2 * marks.LARGE_DOT
"""The area of a hollow mark that other marks are seen inside, in square pixels."""
VARIANT: marks.Tip = ("title", "variant")
BELOW = 7
"""The pixels by which seeds stand below their mean, so that none is hidden."""
KEY_OFFSET = 8
"""Pixels between the key of ways and the plot."""
LETTERS = 20
"""Letters of a line of a name: on a phone, longer ones would leave the marks little room."""


UNKNOWN = "Of imported runs"
"""The way of variants that are not ours, in the key."""


def ways(variants: Iterable[str]) -> list[str]:
    """The title of each variant's way of telling positions, for the column `way` of a frame."""
    return [WAYS[key].title if (key := way(name)) in WAYS else UNKNOWN for name in variants]


def way_hues(
    drawn: Iterable[str], theme: Theme, place: Literal["top", "bottom"] | None = "top", *, columns: int = 8
) -> alt.Color:
    """The colour of a row by its column `way`, as in the learning curves. drawn: the ways of the rows.

    place: of the key; None for none. columns: the most that the key has; on a phone it has two.
    """
    drawn = set(drawn)
    titles = {name: one.title for name, one in WAYS.items()} | {"": UNKNOWN}
    shown = {title: theme.colour(colours.of_way(name)) for name, title in titles.items() if title in drawn}
    wide = alt.expr(f"{marks.ON_PHONE} ? 2 : {min(columns, len(shown))}")
    key = marks.legend(place=place, columns=wide) if place else None
    if key is not None:
        # Marks of several shapes share this key, which would show the first of them.
        key["symbolType"] = "circle"
        key["offset"] = KEY_OFFSET
    return marks.hues("way", shown, key)


def stripes(y: alt.Y, theme: Theme) -> Chart:
    """A pale band behind every second row of an axis of names, which leads the eye from one panel to the next."""
    rows = pd.DataFrame({str(y["shorthand"]).partition(":")[0]: y["sort"][1::2]})
    band = alt.Chart(rows).mark_bar(color=theme.grid, opacity=0.45, height={"band": 1})
    return band.encode(y=y, x=alt.value(0), x2=alt.value("width"))


def differences(frame: pd.DataFrame, x: alt.X, y: alt.Y, theme: Theme, tooltip: Sequence[marks.Tip]) -> list[Chart]:
    """Differences from zero with their intervals, and as text; hollow where they are not significant.

    frame: with the columns `gap`, `low`, `high`, `told_apart` and `written`.
    """
    return [
        marks.rule(theme, x=0),
        *significant_or_hollow(frame, x, y, theme, tooltip),
        marks.texts_beside(frame, y, theme),
    ]


def significant_or_hollow(
    frame: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    tooltip: Sequence[marks.Tip],
    *,
    color: alt.Color | UndefinedType = alt.Undefined,
) -> list[Chart]:
    """Differences as diamonds with their intervals: filled where they are significant, else hollow.

    frame: with the columns `gap`, `low`, `high` and `told_apart`.
    """
    layers: list[Chart] = []
    for significant in (True, False):
        selected = frame[frame.gap.notna() & (frame.told_apart == significant)]
        if len(selected):
            layers += marks.row_plot(
                selected, x=x, y=y, theme=theme, shape="diamond", size=marks.LARGE_DOT, filled=significant, color=color,
                tooltip=tooltip,
            )  # fmt: skip
    return layers


def edge_triangles(
    rows: pd.DataFrame,
    low: pd.Series | None,
    high: pd.Series | None,
    domain: tuple[float, float],
    *,
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    color: alt.Color,
    size: float,
    tooltip: Sequence[marks.Tip],
) -> list[Chart]:
    """Triangles at the ends of the axis for what goes on beyond them. low, high: the rows that do, at each end."""
    layers: list[Chart] = []
    for beyond, edge, shape in ((low, domain[0], "triangle-left"), (high, domain[1], TRIANGLE)):
        if beyond is not None and beyond.any():
            layers += marks.row_plot(
                rows[beyond].assign(edge=edge), x=marks.same_axis(x, "edge"), y=y, theme=theme, ends=None, shape=shape,
                size=size, color=color, tooltip=tooltip,
            )  # fmt: skip
    return layers


def seeds_and_means(
    seeds: pd.DataFrame,
    means: pd.DataFrame,
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    tooltip: Sequence[marks.Tip],
    color: alt.Color,
) -> list[Chart]:
    """Seeds in grey, a little below their means, which are diamonds with intervals, in the colours of `color`.

    A triangle is a seed that did not reach the goal within its run or, if hollow, a mean that is therefore a lower
    bound. Hollow, too, are means of which the column `few` says, where there is one, that they lack seeds.
    """
    exact, bounds = means[~means.censored], means[means.censored]
    lacking = exact.few if "few" in exact else pd.Series(False, index=exact.index)
    # Drawn first, so that seeds inside stay visible.
    layers = marks.row_plot(
        bounds, x=x, y=y, theme=theme, ends=None, color=color, shape=TRIANGLE, size=RING, filled=False,
        tooltip=tooltip,
    )  # fmt: skip
    for censored, shape in ((False, "circle"), (True, TRIANGLE)):
        selected = seeds[seeds.censored == censored]
        layers += marks.row_plot(
            selected, x=x, y=y, theme=theme, ends=None, color=GREY, shape=shape, size=marks.SEED, opacity=0.8,
            below=0 if censored else BELOW,
        )  # fmt: skip
    for few, rows in exact.groupby(lacking):
        layers += marks.row_plot(
            rows, x=x, y=y, theme=theme, shape="diamond", size=marks.LARGE_DOT, color=color, tooltip=tooltip,
            filled=not few,
        )  # fmt: skip
    return [*layers, marks.texts_beside(means, y, theme)]
