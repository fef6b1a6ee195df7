"""Energy of every dimension: words against positions."""

import altair as alt
import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.formatting import signed
from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.estimates import GeometryParameters, estimate, geometry_figure, stored_rows


def _avoid(low: float, high: float) -> str:
    """The verb that describes an interval of a rank correlation: one each for below zero, above zero, and across it."""
    return "keep out of" if high < 0 else "use most" if low > 0 else "neither avoid nor prefer"


@figure("geometry_energies", GeometryParameters)
def energies(params: GeometryParameters) -> Figure:
    """Energy of every dimension: words against positions.

    Raises NoResults where none is stored of the model.
    """
    model = params.model
    rows = stored_rows(model, "dimension_energy", "dimension_correlation")
    wide = rows[rows.measure == "dimension_energy"].pivot(index="along", columns="subject", values="value")
    if not {"word_centred", "position_centred"} <= set(wide) or "centred" not in set(rows.subject):
        stored_rows(model, "abs_cosine")
    row = estimate(rows, "dimension_correlation", "centred")
    dots = pd.DataFrame(
        {"dimension": wide.index.astype(int), "word": wide.word_centred, "position": wide.position_centred}
    ).reset_index(drop=True)
    text = (
        f"Rank correlation over {row.samples} dimensions: {signed(row.value)} ({signed(row.low)} to "
        f"{signed(row.high)}); with the dimensions permuted: {signed(row.baseline_low)} to "
        f"{signed(row.baseline_high)}."
    )
    # A Gaussian table's dimensions: nearly the same share each.
    chance = rows[(rows.measure == "dimension_energy") & rows.subject.isin(["word_centred", "position_centred"])]
    return geometry_figure(
        "Do words stay out of the dimensions that positions use?",
        rows,
        caption=(
            f"{text} {readable(model)}: each dot is one dimension of the model, with its share of the variance of all "
            "words and of all positions. If words had learnt to leave some dimensions to positions, the dots would "
            "fall from left to right. Dashed: the share that every dimension has in a random table. Interval by "
            "resampling dimensions; a share of single dimensions says nothing about other directions."
        ),
        alt=text,
        finding=(
            f"Words {_avoid(row.low, row.high)} the dimensions that positions use: rank correlation {signed(row.value)}"
        ),
        draw=lambda theme: [_dots(dots, float(np.mean(chance.baseline)), theme)],
    )


def _dots(dots: pd.DataFrame, chance: float, theme: Theme) -> Chart:
    """A dot a dimension, both axes logarithmic; the share of a random table's dimensions dashed."""
    points = marks.line_plot(
        dots[(dots.word > 0) & (dots.position > 0)],
        x=marks.number(alt.X, "position", "share of the positions' variance", log=10, ticks=5),
        y=marks.number(alt.Y, "word", "share of the words' variance", log=10, ticks=5),
        theme=theme,
        width=0,
        dots=marks.SEED,
        tooltip=("dimension:Q", ("position", "", ".3~g"), ("word", "", ".3~g")),
    )
    rules = (marks.rule(theme, x=chance, dash=marks.DASH), marks.rule(theme, y=chance, dash=marks.DASH))
    return marks.panel(*rules, *points, theme=theme, width=marks.WIDE, height=300)
