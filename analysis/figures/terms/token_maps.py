"""Drawings of scores and attention of tokens on tokens, and what stands above them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.core.formatting import UNDEFINED, percent
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme, part_around_zero
from analysis.figures.heatmap import heatmap

MAP_SIDE = 330
SMALL_HEIGHT = 152
"""Pixels of maps side by side below a large one, with their names."""
NAMES_HEIGHT = 48
"""Pixels of the lines above a small map, at most three."""
NAMES_LINES = 3
"""The lines of a name above a small map, where it has not the room for one."""
ONE_LINE = "width > 400"
"""True where small maps have room for names in one line."""
FAINT = 1 / 3
"""The share of a scale below which the scores of small maps would hardly be seen on it, so that they get their own."""


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


def own_limit(maps: Iterable[ndarray], limit: float) -> float | None:
    """The largest score of these maps where they need a scale of their own beside one that ends at `limit`; else None.

    >>> own_limit([np.array([0.5, -1.0])], 20.0), own_limit([np.array([0.5, -9.0])], 20.0)
    (1.0, None)
    """
    most = max((float(np.nanmax(np.abs(values))) for values in maps), default=0.0)
    return most if 0 < most < FAINT * limit else None


def times_as_strong(limit: float, own: float) -> str:
    """The factor between two scales in words: `14 times as strong`."""
    return f"{limit / own:.0f} times as strong"


def small_maps(
    maps: Mapping[str, ndarray],
    names: Mapping[str, str],
    tokens: Sequence[str],
    limit: float,
    theme: Theme,
    *,
    below: Sequence[str] = (),
) -> Chart:
    """Maps side by side without the names of their tokens, below a large one.

    They share its scale, which the legend is of, or have one of their own where `own_limit` says so: the large one
    then needs its own legend. names: what stands above each map, in lines. below: lines under their common title.
    """
    side, own = len(tokens), own_limit(maps.values(), limit)
    title, key = "The other terms", "score, one scale for all maps"
    if own is not None:
        title, key = f"{title}: colours are {times_as_strong(limit, own)}", "score in the small maps"
        limit = own
    step = side + max(1.0, 0.12 * side)
    i, j = (grid.ravel() for grid in np.indices((side, side)))
    tokens_of = np.asarray(tokens, dtype=object)
    cells = pd.concat(
        pd.DataFrame({
            "map": term, "left": place * step + j, "right": place * step + j + 1, "top": i, "bottom": i + 1,
            "query": tokens_of[i], "key": tokens_of[j], "value": np.asarray(values, dtype=float).ravel(),
        })
        for place, (term, values) in enumerate(maps.items())
    )  # fmt: skip
    frames = pd.DataFrame(
        {"left": place * step, "right": place * step + side, "top": 0, "bottom": side, "name": names[term]}
        for place, term in enumerate(maps)
    )
    bare: dict[str, Any] = {"labels": False, "ticks": False, "domain": False, "grid": False, "titlePadding": 6}
    x = alt.X(
        "left:Q",
        axis=alt.Axis(title="key", **bare),
        scale=alt.Scale(domain=[0, step * len(maps) - (step - side)], nice=False),
    )
    top = alt.expr(f"{ONE_LINE} ? {NAMES_HEIGHT / NAMES_LINES:g} : {NAMES_HEIGHT}")
    down = alt.Scale(domain=[0, side], range=[top, alt.expr("height")], nice=False)
    y = alt.Y("top:Q", axis=alt.Axis(title="query", **bare), scale=down)
    color = alt.Color(
        "value:Q",
        scale=part_around_zero(theme.diverging, -limit, limit),
        legend=marks.colour_bar(key, length=180),
    )
    ends = {"x": x, "y": y, "x2": alt.X2("right:Q"), "y2": alt.Y2("bottom:Q")}
    text = {"align": "left", "baseline": "top", "lineBreak": "\n", "fontSize": marks.TEXT, "fontWeight": "bold"}
    above = alt.Chart(frames).mark_text(**text, color=theme.ink)
    above["mark"]["text"] = alt.expr(f"{ONE_LINE} ? replace(datum.name, /\\n/g, ' ') : datum.name")
    return marks.panel(
        alt.Chart(cells).mark_rect().encode(**ends, color=color, tooltip=marks.tips("map", "query", "key", "value")),
        alt.Chart(frames).mark_rect(fillOpacity=0, stroke=theme.ink, strokeOpacity=0.25).encode(**ends),
        above.encode(x=x, y=alt.value(0)),
        theme=theme,
        width=MAP_SIDE,
        height=SMALL_HEIGHT,
        title=title,
        below=below,
    )


def share_in_words(share: float) -> str:
    """A term's share of what varies in one head's scores: `96 % of what varies`."""
    return f"{UNDEFINED if share != share else percent(share)} of what varies"


def short_share(share: float) -> str:
    """The same above a small map, without what it is a share of: `0 %`."""
    return share_in_words(share).split(" of")[0]


def negative_shares_note(shares: Iterable[float]) -> str:
    """A clause on what a share below zero says, where one of these is printed as such; else empty."""
    if not any(percent(share).startswith("−") for share in shares if share == share):
        return ""
    return "; a share below zero is of a term that works against the others"
