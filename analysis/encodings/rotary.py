"""Rotary positions: queries and keys are turned, nothing is added."""

import numpy as np

from analysis.encodings.encoding import Encoding, Shift, Table, register
from analysis.encodings.sinusoidal import frequencies


def table(length: int, dim: int) -> Table:
    """[cos | sin] of the angles by which each pair of dimensions is turned, in the order of the frequencies.

    The dot product of rows i and j is sum_m cos((i - j) w_m): the score of a query with a key that have
    the same unit vector in every pair, after both are turned. No model adds these rows to anything.
    """
    angles = np.arange(length)[:, None] * frequencies(dim)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1)


def shift(k: int, dim: int) -> Shift:
    """[[C, -S], [S, C]] with C = diag(cos kw) and S = diag(sin kw)."""
    cos, sin = np.diag(np.cos(k * frequencies(dim))), np.diag(np.sin(k * frequencies(dim)))
    return np.block([[cos, -sin], [sin, cos]])


register(
    Encoding(
        name="rotary",
        title="Rotary",
        summary="Each pair of dimensions of a query and a key is rotated by an angle that grows with the position.",
        enters="rotates",
        paper="Su et al. 2021, RoFormer: Enhanced Transformer with Rotary Position Embedding, arXiv:2104.09864",
        key="su2021roformer",
        learned=False,
        rows="position",
        columns="cosines of the angles, then their sines; dim is the width of one head",
        note="Nothing is added to the words. The rows hold cosines and sines of the angles, so that their dot products "
        "are the rotary kernel: the score of a query and a key alike in all but position.",
        make_table=table,
        make_shift=shift,
        dim_multiple=2,
    )
)
