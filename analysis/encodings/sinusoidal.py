"""Sines and cosines, interleaved: the encoding of the first transformer."""

import numpy as np

from analysis.encodings.encoding import Encoding, Shift, Table, register


def frequencies(dim: int) -> np.ndarray:
    """10000^(-2i/dim) for i in 0 .. dim/2 - 1, in radians per position."""
    return 10000.0 ** (-np.arange(0, dim, 2) / dim)


def table(length: int, dim: int) -> Table:
    """PE[pos, 2i] = sin(pos / 10000^(2i/dim)), PE[pos, 2i+1] the cosine (Vaswani et al. 2017, section 3.5)."""
    angles = np.arange(length)[:, None] * frequencies(dim)
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, dim)


def shift(k: int, dim: int) -> Shift:
    """Block diagonal: [[cos kw, sin kw], [-sin kw, cos kw]] for each frequency w."""
    angles = k * frequencies(dim)
    cos, sin = np.cos(angles), np.sin(angles)
    even, odd = np.arange(0, dim, 2), np.arange(1, dim, 2)
    matrix = np.zeros((dim, dim))
    matrix[even, even], matrix[even, odd] = cos, sin
    matrix[odd, even], matrix[odd, odd] = -sin, cos
    return matrix


register(
    Encoding(
        name="sinusoidal",
        title="Sinusoidal",
        summary="Each pair of dimensions rotates at its own rate, from one radian per position to one in 10,000 "
        "positions.",
        enters="added",
        paper="Vaswani et al. 2017, Attention Is All You Need, NeurIPS",
        key="vaswani2017attention",
        learned=False,
        rows="position",
        columns="sine and cosine in turn, from the fastest pair to the slowest",
        note="The form printed in the paper; the code released with it concatenates (tensor2tensor).",
        make_table=table,
        make_shift=shift,
        dim_multiple=2,
    )
)
