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
from analysis.core.formatting import join_names, percent
from analysis.figures import marks, panels
from analysis.figures.drawing import GREY, Chart, Theme
from analysis.figures.figure import Figure, Parameters, figure, whole_number
from analysis.figures.reading.arithmetic import COMPUTED, command
from analysis.store import read

DIMENSIONS = (2, 3, 4, 8, 16, 32, 64, 128, 256, 384, 768)
BINS = 100
"""The number of bins of the cosine, from -1 to 1."""
COMPARED = 384
"""The dimensions whose distribution is outlined beside the chosen one: the width of the default model."""
TOLERANCE = 0.1
"""A cosine within this of zero: an angle within 6 degrees of a right one."""
BESIDE = 0.3
"""The cosine from which the name of a distribution stands above it where there is no room left of it."""
INNER, ROOM_LEFT = 0.6, -0.4
"""Cosines within the first of zero may carry the name of a distribution, left of which it has room from the second."""


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
    frame, compared, trained = _shares(dim), _shares(COMPARED), _trained()
    text = (
        f"In {dim} dimensions the mean absolute cosine is {mean_abs_cosine(dim):.3f}, and {percent(near(dim), 1)} "
        f"of all pairs are within 6° of a right angle (cosine within ±{TOLERANCE:g})."
    )
    random = [f"{percent(near(dim))} of random pairs in {dim} dimensions"]
    random += [] if dim == COMPARED else [f"{percent(near(COMPARED))} in {COMPARED}"]
    measured = f"; of the model's words and positions, {percent(_near_in_model(trained))}" if len(trained) else ""
    return Figure(
        title=f"Two random vectors in {dim} dimensions",
        finding=f"Within 6° of a right angle: {join_names(random)}{measured}",
        frame=lambda: frame,
        caption=(
            f"{text} Share of all pairs of random directions, by their cosine, in bins of {2 / BINS:g}. Shaded: "
            f"a cosine within ±{TOLERANCE:g}. Grey line: the same in {COMPARED} dimensions, the width of "
            f"{default_model.NAME}. Exact: nothing is sampled. "
            + (f"Bold line: the words and positions of {default_model.NAME}, measured." if len(trained) else "")
        ),
        alt=f"A hill, the distribution around zero. {text}",
        command=command("reading_orthogonal", dim=dim),
        provenance=COMPUTED,
        draw=lambda theme: [_draw(frame, compared, trained, dim, theme)],
        proportions=(0.8,),
    )


def near(dim: int) -> float:
    """The share of random pairs whose cosine is within `TOLERANCE` of zero."""
    low, high = cosine_cdf(np.array([-TOLERANCE, TOLERANCE]), dim)
    return float(high - low)


def _trained() -> pd.DataFrame:
    """The share of pairs of a word and a position of the default model in each bin; no rows where it is not stored."""
    rows = read.query_if_stored(
        "SELECT along, value AS share FROM newest_geometry WHERE model = ? AND measure = 'cosine_histogram' "
        "AND subject = 'word_position' ORDER BY along",
        [default_model.NAME],
        ("along", "share"),
    )
    return rows.assign(low=rows.along - 1 / BINS)


def _near_in_model(trained: pd.DataFrame) -> float:
    """The share of the model's pairs within the band around a right angle."""
    return float(trained[(trained.low + 1 / BINS).abs() < TOLERANCE].share.sum())


def _shares(dim: int) -> pd.DataFrame:
    """The share of all pairs in each bin of the cosine."""
    edges = np.linspace(-1, 1, BINS + 1)
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "share": np.diff(cosine_cdf(edges, dim))})


def _to_the_end(rows: pd.DataFrame) -> pd.DataFrame:
    """The bins, with the last one's share once more at a cosine of 1: a step is drawn up to the next point."""
    return pd.concat([rows, rows.tail(1).assign(low=1.0)], ignore_index=True)


def _draw(frame: pd.DataFrame, compared: pd.DataFrame, trained: pd.DataFrame, dimensions: int, theme: Theme) -> Chart:
    """Bars of the cosine's distribution over the band around a right angle, and the outlines of two others.

    trained: a real model's words and positions.
    """
    soft, hue = theme.colour(SOFT), theme.ink
    frame, compared, trained = (_to_the_end(rows) for rows in (frame, compared, trained))
    # The axis is the same for every number of dimensions: with the most, the shares are highest.
    top = 1.05 * max(float(_shares(DIMENSIONS[-1]).share.max()), float(trained.share.max() if len(trained) else 0))
    bars = alt.Chart(frame).mark_area(color=GREY, interpolate="step-after")
    bars = bars.encode(
        x=marks.number(alt.X, "low", "cosine of the two vectors", domain=(-1, 1), values=(-1, -0.5, 0, 0.5, 1)),
        y=marks.number(alt.Y, "share", "share of pairs", domain=(0, top), form=".0%"),
        y2=alt.datum(0),
        tooltip=marks.tips(("low", "cosine from", ".2f"), ("high", "to", ".2f"), ("share", "share of pairs", ".2%")),
    )
    band = alt.Chart(pd.DataFrame({"low": [-TOLERANCE], "high": [TOLERANCE]})).mark_rect(color=theme.grid, opacity=1)
    band = band.encode(x=bars.encoding.x, x2=alt.X2("high:Q"))
    outlines = [
        alt.Chart(rows)
        .mark_line(color=colour, strokeWidth=width, interpolate="step-after")
        .encode(x=bars.encoding.x, y=bars.encoding.y)
        for rows, colour, width in ((compared, soft, marks.LINE), (trained, hue, 1.5 * marks.LINE))
        if len(rows)
    ]
    # Each name stands beside the flank of its outline, at half its height: the chosen one's left, the others' right.
    # A wide one has no room at its left and stands right of its hill, and then that of the compared one at the left.
    inner = frame[frame.low.abs() < INNER]
    own = inner[inner.share >= inner.share.max() / 2].head(1)
    own = own.assign(
        name=f"random,\n{dimensions} dimensions:\n{percent(near(dimensions))}", hue=theme.ink, align="right", dx=-10
    )
    narrow = own.low.iloc[0] > ROOM_LEFT
    own = own.assign(dy=-20.0) if narrow else own.assign(low=BESIDE, align="left", dx=6, dy=-56.0)
    named = [
        pd.DataFrame({"low": [-TOLERANCE], "share": [top]}).assign(
            name=f"grey: cosine\nwithin ±{TOLERANCE:g}", hue=soft, align="right", dx=-6, dy=10
        ),
        _flank(compared, f"random,\n{COMPARED} dimensions:\n{percent(near(COMPARED))}", soft, right=narrow),
    ]
    if len(trained):
        share = percent(_near_in_model(trained))
        named.append(_flank(trained, f"{default_model.NAME},\nmeasured: {share}", hue, part=0.7))
    if dimensions != COMPARED:
        named.append(own)
    names = panels.names_at(pd.concat(named), bars.encoding.x, bars.encoding.y, theme)
    return marks.panel(
        band, bars, *outlines, *names, theme=theme, width=marks.WIDE, height=260,
        title="Percentages: pairs within 6° of a right angle",
    )  # fmt: skip


def _flank(rows: pd.DataFrame, name: str, hue: str, part: float = 0.5, *, right: bool = True) -> pd.DataFrame:
    """A name beside an outline, at a part of its height."""
    inside = rows[rows.share >= part * rows.share.max()]
    at, align, dx = (inside.tail(1), "left", 14) if right else (inside.head(1), "right", -14)
    return at.assign(name=name, hue=hue, align=align, dx=dx, dy=0)
