"""The drawing of the changes between two variants: one row per change, one panel per way."""

import altair as alt
import pandas as pd

from analysis.core.formatting import signed
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.training.draw_gaps import differences
from analysis.figures.training.parts import PartsContent

TIPS: tuple[marks.Tip, ...] = (
    "before",
    "after",
    ("gap", "difference", "+.3f"),
    *marks.interval_tips("+.3f"),
    ("n", "seeds"),
    ("p", "", ".2~g"),
    ("p_holm", "p, Holm", ".2~g"),
)


@drawing("training_parts", columns=2)
def parts(figure: Figure[PartsContent], theme: Theme) -> list[Chart]:
    """Differences with their intervals, on one scale for both ways."""
    table = figure.frame()
    values = [0.0, *table[["gap", "low", "high"]].clip(-_axis_limit(table), _axis_limit(table)).stack()]
    x = marks.number(
        alt.X, "gap", "change in final loss (nats)", domain=(min(values), max(values)), nice=True, padding=8, ticks=5
    )
    panels = []
    for way in figure.content.ways:
        rows = table[table.way == way].drop(columns=["way", "note"])
        labels = list(marks.wrapped_labels(rows.change.tolist()).values())
        rows = rows.assign(label=labels, written=[signed(gap) for gap in rows.gap])
        layers = differences(rows, x, marks.labelled_rows(labels, grid=True), theme, TIPS)
        panels.append(
            marks.panel(*layers, theme=theme, width=marks.HALF, height=len(rows) * marks.row_height(labels), title=way)
        )
    return panels


def _axis_limit(table: pd.DataFrame) -> float:
    """Half the width of the axis, set by the differences: an interval of two seeds may be ten times as wide."""
    return 1.6 * float(table.gap.abs().max()) or 1.0
