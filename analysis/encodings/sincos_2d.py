"""Sines and cosines of the column, then of the row, of an image patch."""

from math import isqrt

import numpy as np

from analysis.core.errors import AddendError
from analysis.encodings.encoding import Encoding, Table, register
from analysis.encodings.sinusoidal import frequencies


def table(length: int, dim: int) -> Table:
    """[sin x | cos x | sin y | cos y] of patch (y, x), row by row on a square grid, a quarter of dim each."""
    side = isqrt(length)
    if side * side != length:
        raise AddendError(
            f"The length {length} is not a square, and a grid of patches needs one; "
            f"choose {side**2} or {(side + 1) ** 2}."
        )
    y, x = np.divmod(np.arange(length), side)
    angles = [coordinate[:, None] * frequencies(dim // 2) for coordinate in (x, y)]
    return np.concatenate([part for angle in angles for part in (np.sin(angle), np.cos(angle))], axis=1)


def nearest(length: int, dim: int) -> tuple[int, int]:
    """The square number nearest to the length."""
    return max(1, round(length**0.5)) ** 2, dim


register(
    Encoding(
        name="sincos_2d",
        title="Sinusoidal, two-dimensional",
        summary="Half of the dimensions tell an image patch's column, the other half its row.",
        enters="added",
        paper="He et al. 2022, Masked Autoencoders Are Scalable Vision Learners, CVPR",
        key="he2022mae",
        learned=False,
        rows="position",
        columns="sines and cosines of the column, then sines and cosines of the row",
        note="Positions run row by row over a square grid, so patches one row apart are not neighbours in this order. "
        "ViT-MAE puts a zero row for its class token in front; it is left out here.",
        make_table=table,
        make_nearest=nearest,
        dim_multiple=4,
    )
)
