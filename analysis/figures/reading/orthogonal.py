"""The angle between random vectors, which approaches a right angle as dimensions are added; computed exactly."""

from typing import Annotated

import altair as alt
import numpy as np
import pandas as pd
from jaxtyping import Float
from numpy import ndarray
from scipy.special import betainc, gammaln

from analysis.core import default_model
from analysis.core.colours import SOFT
from analysis.core.formatting import first_sentence, percent
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.reading.arithmetic import COMPUTED, command

DIMENSIONS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 768)
BINS = 100
"""The number of bins of the cosine, from -1 to 1."""
COMPARED = 384
"""The dimensions whose distribution is outlined beside the chosen one: the width of the default model."""
TOLERANCE = 0.1
"""A cosine within this of zero: an angle within 6 degrees of a right one."""


def cosine_cdf(cosine: Float[ndarray, " n"], dim: int) -> Float[ndarray, " n"]:
    """The probability that two random directions in `dim` dimensions have a smaller cosine than this.

    (cosine + 1) / 2 has a Beta distribution with both parameters (dim - 1) / 2.
    """
    return betainc((dim - 1) / 2, (dim - 1) / 2, (cosine + 1) / 2)


def mean_abs_cosine(dim: int) -> float:
    """The mean absolute cosine: Gamma(dim / 2) / (sqrt(pi) Gamma((dim + 1) / 2))."""
    return float(np.exp(gammaln(dim / 2) - gammaln((dim + 1) / 2)) / np.sqrt(np.pi))


class RandomDimensionParameters(Parameters):
    """The dimensions of the random vectors."""

    dim: Annotated[int, whole_number(DIMENSIONS[0], DIMENSIONS[-1])]


@figure("reading_orthogonal", RandomDimensionParameters)
def reading_orthogonal(params: RandomDimensionParameters) -> Figure:
    """The distribution of the cosine of two random vectors."""
    dim = params.dim
    frame, compared = _shares(dim), _shares(COMPARED)
    low, high = cosine_cdf(np.array([-TOLERANCE, TOLERANCE]), dim)
    text = (
        f"In {dim} dimensions the mean absolute cosine is {mean_abs_cosine(dim):.3f}, and {percent(high - low, 1)} "
        f"of all pairs are within 6° of a right angle (cosine within ±{TOLERANCE:g})."
    )
    return Figure(
        title=f"Two random vectors in {dim} dimensions",
        finding=first_sentence(text),
        frame=lambda: frame,
        caption=(
            f"{text} Share of all pairs of random directions, by their cosine, in bins of {2 / BINS:g}. Shaded: "
            f"a cosine within ±{TOLERANCE:g}. Line: the same in {COMPARED} dimensions, the width of "
            f"{default_model.NAME}. Exact: nothing is sampled. Trained vectors are not random: whether they do "
            "likewise is another question, and is measured."
        ),
        alt=f"Bars of a distribution around zero. {text}",
        command=command("reading_orthogonal", dim=dim),
        provenance=COMPUTED,
        draw=lambda theme: [_draw(frame, compared, dim, theme)],
        proportions=(0.8,),
    )


def _shares(dim: int) -> pd.DataFrame:
    """The share of all pairs in each bin of the cosine."""
    edges = np.linspace(-1, 1, BINS + 1)
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "share": np.diff(cosine_cdf(edges, dim))})


def _draw(frame: pd.DataFrame, compared: pd.DataFrame, dimensions: int, theme: Theme) -> Chart:
    """Bars of the cosine's distribution over the band around a right angle, and the outline of another one."""
    soft = theme.colour(SOFT)
    # The axis is the same for every number of dimensions: with the most, the shares are highest.
    top = 1.05 * float(_shares(DIMENSIONS[-1]).share.max())
    bars = alt.Chart(frame).mark_bar(color=GREY, binSpacing=0)
    bars = bars.encode(
        x=marks.number(alt.X, "low", "cosine of the two vectors", domain=(-1, 1)),
        x2=alt.X2("high:Q"),
        y=marks.number(alt.Y, "share", "share of pairs", domain=(0, top), form=".0%"),
        y2=alt.datum(0),
        tooltip=marks.tips(("low", "cosine from", ".2f"), ("high", "to", ".2f"), ("share", "share of pairs", ".2%")),
    )
    band = alt.Chart(pd.DataFrame({"low": [-TOLERANCE], "high": [TOLERANCE]})).mark_rect(color=theme.grid, opacity=1)
    band = band.encode(x=bars.encoding.x, x2=alt.X2("high:Q"))
    outline = alt.Chart(compared).mark_line(color=soft, strokeWidth=marks.LINE, interpolate="step-after")
    outline = outline.encode(x=bars.encoding.x, y=bars.encoding.y)
    own = frame.loc[[frame.share.idxmax()]].assign(
        name=f"{dimensions} dimensions", hue=theme.ink, align="right", dx=-12, dy=-10
    )
    within = pd.DataFrame({"low": [TOLERANCE], "share": [top]}).assign(
        name=f"grey: within ±{TOLERANCE:g}", hue=soft, align="left", dx=6, dy=10
    )
    peak = compared.loc[[compared.share.idxmax()]].assign(
        name=f"{COMPARED} dimensions", hue=soft, align="left", dx=16, dy=12
    )
    labelled = [peak, within] if dimensions == COMPARED else [peak, within, own]
    named = panels.names_at(pd.concat(labelled), bars.encoding.x, bars.encoding.y, theme)
    return marks.panel(band, bars, outline, *named, theme=theme, width=marks.WIDE, height=260)
