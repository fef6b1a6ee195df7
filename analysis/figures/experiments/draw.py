"""The drawing of the board: one panel a measure, variants down, coloured by how they combine word and position."""

import altair as alt

from analysis.core import colours
from analysis.figures import Figure, marks
from analysis.figures.drawing import Chart, Theme, drawing
from analysis.figures.experiments.data import MEASURES, BoardContent
from analysis.figures.training.draw_curves import COMBINATION_COLOURS
from analysis.figures.training.draw_gaps import VARIANT

BASELINE_VALUES = {"loss": 0.0, "glue": 0.0, "published": 0.0, "time": 1.0, "parameters": 1.0}
"""The value of each measure at which a variant equals the baseline."""


@drawing("experiments_board", columns=3)
def board(figure: Figure[BoardContent], theme: Theme) -> list[Chart]:
    """A dot with its interval for each variant that was measured."""
    table, titles = figure.frame(), figure.content.titles
    table = table.assign(way=table.combines.map(COMBINATION_COLOURS))
    colour = {way: theme.colour(meaning) for way, meaning in colours.WAYS.items() if way in set(table.way)}
    y = marks.rows_down("title", titles)
    panels = []
    for index, (measure, name) in enumerate(MEASURES.items()):
        frame = table.loc[table.measure == measure, ["title", "way", "value", "low", "high", "seeds", "word"]]
        if frame.empty:
            continue
        dots = marks.row_plot(
            frame, x=marks.number(alt.X, "value", None, padding=8, ticks=4), y=y, theme=theme,
            color=marks.hues("way", colour, marks.legend(columns=2) if index == 0 else None),
            tooltip=(
                VARIANT, ("value", name, ",.4~g"), *marks.interval_tips(",.4~g"), "seeds:Q", ("word", "verdict")
            ),
        )  # fmt: skip
        layers = [marks.rule(theme, x=BASELINE_VALUES[measure]), *dots] if measure in BASELINE_VALUES else dots
        panels.append(
            marks.panel(
                *layers,
                theme=theme,
                width=marks.THIRD,
                height=marks.ROW * len(titles),
                title=[name, figure.content.origins[measure]],
            )
        )
    return panels
