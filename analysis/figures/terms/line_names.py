"""Names at the ends of lines, in place of a legend."""

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from analysis.core.colours import of_term
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.terms.distance import COLOURS
from analysis.figures.training.line_marks import NAME_HEIGHT, spread_names


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
    return marks.hues("series", {name: theme.colour(COLOURS.get(name, of_term("bias"))) for name in names})
