"""The colours of cells that hold a term's share or effect."""

from typing import Any

import altair as alt

from analysis.figures import marks
from analysis.figures.drawing import Theme, colour_scale


def measured_colours(limit: float, measure: str, label: str, theme: Theme) -> tuple[alt.Color, Any]:
    """The colours of cells that hold a term's share or effect, up to `limit`, and of the numbers upon them."""
    share = measure == "share"
    limit = min(limit, 1.0) if share else limit
    scale = theme.around_zero(limit) if share else colour_scale(theme.sequential, (0, limit))
    color = alt.Color("value:Q", scale=scale, legend=marks.colour_bar(label, form=".2~f"))
    return color, theme.ink_on_cells(f"abs(datum.value) > {theme.strong * limit}")
