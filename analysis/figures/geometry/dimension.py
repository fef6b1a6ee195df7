"""Mean absolute cosine against dimension: of random vectors, and of words and positions on some coordinates."""

import altair as alt
import pandas as pd

from analysis.ablation.variants import readable
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.cosines import CosineParameters
from analysis.figures.geometry.estimates import find_estimate, geometry_figure, stored_rows
from analysis.measurements.geometry.random import expected_abs_cosine

PAIRS = {
    "word_position": "word and position",
    "word_position_centred": "word and position, centred",
    "word_word": "two words",
    "position_position": "two positions",
}
RANDOM_PAIRS = "random, measured"
LOG_DIMENSIONS = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
LOG_COSINES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1]


def random_dimension(cosine: float) -> float | None:
    """The dimension in which random vectors have this mean absolute cosine; None outside 2 to a million dimensions."""
    if not expected_abs_cosine(1e6) < cosine < expected_abs_cosine(2):
        return None
    from scipy.optimize import brentq  # takes long to import

    return float(brentq(lambda dim: expected_abs_cosine(dim) - cosine, 2, 1e6))  # type: ignore[arg-type]


@figure("geometry_dimension", CosineParameters)
def dimension(params: CosineParameters) -> Figure:
    """Mean absolute cosine against dimension: exact, of random vectors, and of the model's on some coordinates.

    Raises NoResults where none is stored of the model.
    """
    model, dim = params.model, params.compared_dimension()
    rows = stored_rows(model, "abs_cosine", "abs_cosine_random")
    shown = rows[rows.subject.isin([*PAIRS, "random"])]
    shown = shown.assign(series=shown.subject.map({**PAIRS, "random": RANDOM_PAIRS}))
    width = rows[rows.measure == "abs_cosine"].along.max()
    row = find_estimate(rows, "abs_cosine", "word_position_centred", width)
    text = ""
    if row is not None:
        equivalent = random_dimension(row.value)
        text = (
            f"With their means subtracted, the words and positions of {readable(model)} have a mean absolute cosine of "
            f"{row.value:.3f}, and random vectors of {width:,.0f} dimensions {row.baseline:.3f}"
            + (
                f"; random vectors of {equivalent:,.0f} dimensions have {row.value:.3f} too."
                if equivalent is not None
                else "."
            )
        )
    return geometry_figure(
        "Mean absolute cosine against dimension",
        shown,
        caption=(
            "Of pairs of vectors when only some of their coordinates are used; lower is nearer "
            f"to a right angle. {text} Grey line: the exact formula for random vectors, Gamma(d/2) / (sqrt(pi) "
            "Gamma((d+1)/2)). Below the model's width: means over 20 random choices of coordinates, bars their 95 % "
            "range; at its width: all pairs of a sample of words. The vertical line marks the dimension chosen above."
        ),
        alt=text,
        draw=lambda theme: [_curves(shown, dim, theme)],
    )


def _curves(shown: pd.DataFrame, dim: int, theme: Theme) -> Chart:
    """Both axes logarithmic; the exact formula in grey, the slider's dimension upright."""
    rows = panels.chart_rows(shown)
    x = marks.number(alt.X, "along", "dimension", domain=(2, 1024), log=10, values=LOG_DIMENSIONS)
    y = marks.number(alt.Y, "value", "mean absolute cosine", log=10, values=LOG_COSINES)
    exact = alt.Chart(rows[rows.series == RANDOM_PAIRS]).mark_line(strokeWidth=5, opacity=0.5, color=GREY)
    names = [*PAIRS.values(), RANDOM_PAIRS]
    hues = dict(zip(names, theme.many(len(names)), strict=True)) | {RANDOM_PAIRS: GREY}
    means = marks.line_plot(
        rows, x=x, y=y, theme=theme, ends=("low", "high"), color=panels.series_colour(rows, theme, hues),
        dots=marks.SEED, tooltip=(("series", "of"), ("along:Q", "dimension"), *panels.RANDOM[:2]),
    )  # fmt: skip
    return marks.panel(
        marks.rule(theme, x=dim, dash=marks.DASH),
        exact.encode(x=x, y=marks.same_axis(y, "baseline")),
        *means,
        theme=theme,
        width=marks.WIDE,
        height=300,
        title=f"Grey: random vectors; dashed: {dim} dimensions",
    )
