"""Figures of the orthogonality argument: cosines of random vectors against dimension, and of the real ones."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.figures.figure import Figure, figure
from analysis.figures.geometry.data import GeometryParameters, find_estimate, geometry_figure, stored_rows
from analysis.measurements.geometry.random import cosine_shares, expected_abs_cosine

DIMENSIONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
"""The dimensions that the slider offers."""
PAIRS = {
    "word_position": "word and position",
    "word_position_centred": "word and position, centred",
    "word_word": "two words",
    "position_position": "two positions",
}
RANDOM_PAIRS = "random, measured"


class DimensionParameters(GeometryParameters):
    """A model, and the dimension of the random vectors that it is compared with."""

    dim: int


@dataclass(frozen=True)
class CosinesContent:
    """rows: shares of the model's pairs by cosine. random: those of random vectors; random_name: their label."""

    rows: pd.DataFrame
    random: pd.DataFrame
    random_name: str


@dataclass(frozen=True)
class DimensionContent:
    """rows: mean |cosine| by dimension and series. dim: the dimension that the reader chose."""

    rows: pd.DataFrame
    dim: int


def random_dimension(cosine: float) -> float | None:
    """The dimension in which random vectors have this mean |cosine|; None outside 2 to a million dimensions."""
    if not expected_abs_cosine(1e6) < cosine < expected_abs_cosine(2):
        return None
    from scipy.optimize import brentq  # takes long to import

    return float(brentq(lambda dim: expected_abs_cosine(dim) - cosine, 2, 1e6))  # type: ignore[arg-type]


@figure("geometry_cosines", DimensionParameters)
def cosines(params: DimensionParameters) -> Figure[CosinesContent]:
    """The distributions of cosines: the model's, and those of random vectors of the dimension that the slider gives.

    Raises NoResults where none is stored of the model.
    """
    model, dim = params.model, params.dim
    rows = stored_rows(model, "cosine_histogram")
    model_rows = rows[rows.subject.isin(["word_position", "word_position_centred"])]
    model_rows = model_rows.assign(series=model_rows.subject.map(PAIRS))
    edges = np.linspace(-1, 1, model_rows.along.nunique() + 1)
    random = pd.DataFrame(
        {
            "along": (edges[1:] + edges[:-1]) / 2,
            "value": cosine_shares(edges, dim),
            "series": f"random, {dim} dimensions",
        }
    )
    text = (
        f"Two random vectors of {dim} dimensions have |cosine| {expected_abs_cosine(dim):.3f} on average, an angle of "
        f"{np.degrees(np.arccos(expected_abs_cosine(dim))):.0f} degrees."
    )
    return geometry_figure(
        "How nearly orthogonal?",
        model_rows,
        caption=(
            f"How the cosines of pairs of a word and a position are distributed; 0 is a right angle. {text} Coloured: "
            f"{model_rows.samples.iloc[0]:,} pairs of {readable(model)}, from a sample of words and every position "
            "that a word can hold, in bins of 0.02. Random vectors follow the exact distribution, (cos + 1)/2 ~ "
            "Beta((d-1)/2, (d-1)/2)."
        ),
        alt=text,
        finding=_angle(model, dim),
        content=CosinesContent(model_rows, random, random_name=f"random, {dim} dimensions"),
    )


def _angle(model: str, dim: int) -> str:
    """The mean |cosine| of the model's words and positions and of random vectors, in words; empty if not stored."""
    rows = stored_rows(model, "abs_cosine")
    row = find_estimate(rows, "abs_cosine", "word_position", rows.along.max())
    if row is None:
        return ""
    return (
        f"A word and a position of {readable(model)} have a mean |cosine| of {row.value:.3f}; two random vectors of "
        f"{dim} dimensions have {expected_abs_cosine(dim):.3f}"
    )


@figure("geometry_dimension", DimensionParameters)
def dimension(params: DimensionParameters) -> Figure[DimensionContent]:
    """Mean |cosine| against dimension: exact, measured on random vectors, and of the model's on some coordinates.

    Raises NoResults where none is stored of the model.
    """
    model, dim = params.model, params.dim
    rows = stored_rows(model, "abs_cosine", "abs_cosine_random")
    shown = rows[rows.subject.isin([*PAIRS, "random"])]
    shown = shown.assign(series=shown.subject.map({**PAIRS, "random": RANDOM_PAIRS}))
    width = rows[rows.measure == "abs_cosine"].along.max()
    row = find_estimate(rows, "abs_cosine", "word_position_centred", width)
    text = ""
    if row is not None:
        equivalent = random_dimension(row.value)
        text = (
            f"With their means subtracted, the words and positions of {readable(model)} have a mean |cosine| of "
            f"{row.value:.3f}, and random vectors of {width:,.0f} dimensions {row.baseline:.3f}"
            + (
                f"; random vectors of {equivalent:,.0f} dimensions have {row.value:.3f} too."
                if equivalent is not None
                else "."
            )
        )
    return geometry_figure(
        "|Cosine| against dimension",
        shown,
        caption=(
            "The mean |cosine| of pairs of vectors when only some of their coordinates are used; lower is nearer to "
            f"a right angle. {text} Grey line: the exact formula for random vectors, Gamma(d/2) / (sqrt(pi) "
            "Gamma((d+1)/2)). Below the model's width: means over 20 random choices of coordinates, bars their 95 % "
            "range; at its width: all pairs of a sample of words. The vertical line marks the dimension chosen above."
        ),
        alt=text,
        content=DimensionContent(shown, dim),
    )
