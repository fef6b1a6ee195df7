"""The colours of cells that hold a term's share or effect."""

from typing import Any

import altair as alt
import numpy as np
from numpy import ndarray

from analysis.figures import marks
from analysis.figures.drawing import Theme, colour_scale, part_around_zero

ROOM = 0.2
"""The least part of a scale of shares below zero whose end has room for a number beside zero's."""


def measured_domain(values: ndarray, measure: str) -> tuple[float, float]:
    """The ends of a scale for shares or effects; shares may be negative, and then only as far down as they go.

    Shares are at home between 0 and 1, so that one colour is one share in every layer, head and text.
    """
    known = np.nan_to_num(np.asarray(values, dtype=float))
    high = max(1.0 if measure == "share" else 0.0, float(known.max(initial=0)))
    low = min(0.0, float(known.min(initial=0))) if measure == "share" else 0.0
    return (low, high) if low < high else (0.0, 1.0)


def measured_colours(values: ndarray, measure: str, label: str, theme: Theme) -> tuple[alt.Color, Any]:
    """The colours of cells that hold a term's share or effect, and of the numbers upon them."""
    share = measure == "share"
    low, high = measured_domain(values, measure)
    scale = part_around_zero(theme.diverging, low, high) if share else colour_scale(theme.sequential, (low, high))
    key = marks.colour_bar(label, form=".0%" if share else ".2~f")
    key["tickCount"] = 3  # More numbers such as 100 % would touch.
    if low < -ROOM:
        key["values"] = [low, 0, high / 2, high]
    color = alt.Color("value:Q", scale=scale, legend=key)
    return color, theme.ink_on_cells(f"abs(datum.value) > {theme.strong * max(-low, high)}")
