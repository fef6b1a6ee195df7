"""The drawing of one run's losses."""

import altair as alt

from analysis.figures import Figure
from analysis.figures.drawing import Chart, Look, drawing
from analysis.figures.marks import WIDE, dashes, hues, legend, line_plot, number, panel
from analysis.figures.runs.data import LOSSES, RunContent

EVALUATION = 18
"""The area of a dot, in square pixels: so small that the lines below one another are seen."""


@drawing("runs_curve")
def run_curve(figure: Figure[RunContent], look: Look) -> list[Chart]:
    """Validation and training loss of one run; what was measured on training texts is dashed."""
    rows = figure.content.rows
    kinds = [name for name in LOSSES.values() if name in set(rows.loss)]
    colour = dict(zip(kinds, [look.ink, *look.many(len(kinds) - 1)], strict=True))
    dash = {name: [1, 0] if place % 2 == 0 else [5, 3] for place, name in enumerate(kinds)}
    lines = line_plot(
        rows, look=look, dots=EVALUATION,
        x=number(alt.X, "step", "steps", form=",d", nice=False),
        y=number(alt.Y, "value", figure.content.label),
        color=hues("loss", colour, legend(place="top", columns=2, lines=True)),
        dash=dashes("loss", dash),
        tooltip=("loss", ("step", "", ","), ("value", "", ".3f")),
    )  # fmt: skip
    return [panel(*lines, look=look, width=WIDE, height=280)]
