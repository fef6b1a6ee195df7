"""The drawing of one run's losses."""

import altair as alt

from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.runs.data import LOSSES, RunContent

EVALUATION = 18
"""The area of a dot, in square pixels: so small that the lines below one another are seen."""


@drawing("runs_curve")
def run_curve(figure: Figure[RunContent], theme: Theme) -> list[Chart]:
    """Validation and training loss of one run; what was measured on training texts is dashed."""
    rows = figure.content.rows
    kinds = [name for name in LOSSES.values() if name in set(rows.loss)]
    colour = dict(zip(kinds, [theme.ink, *theme.many(len(kinds) - 1)], strict=True))
    dash = {name: [1, 0] if index % 2 == 0 else [5, 3] for index, name in enumerate(kinds)}
    lines = marks.line_plot(
        rows, theme=theme, dots=EVALUATION,
        x=marks.number(alt.X, "step", "steps", form=",d", nice=False),
        y=marks.number(alt.Y, "value", figure.content.label),
        color=marks.hues("loss", colour, marks.legend(place="top", columns=2, lines=True)),
        dash=marks.dashes("loss", dash),
        tooltip=("loss", ("step", "", ","), ("value", "", ".3f")),
    )  # fmt: skip
    return [marks.panel(*lines, theme=theme, width=marks.WIDE, height=280)]
