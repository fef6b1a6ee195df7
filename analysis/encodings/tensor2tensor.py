"""Sines, then cosines: the form in the code that was released with the first transformer."""

import numpy as np

from analysis.encodings.encoding import Encoding, Shift, Table, register


def frequencies(dim: int) -> np.ndarray:
    """exp(-i log(10000) / (dim/2 - 1)), in radians per position: the slowest is exactly 1/10000, unlike the paper's."""
    half = dim // 2
    return np.exp(-np.arange(half) * np.log(10000.0) / max(half - 1, 1))


def signal(positions: np.ndarray, dim: int) -> Table:
    """[sin | cos] at the given positions."""
    angles = positions[:, None] * frequencies(dim)
    return np.concatenate([np.sin(angles), np.cos(angles)], axis=1)


def table(length: int, dim: int) -> Table:
    """The timing signal of tensor2tensor's common_attention.get_timing_signal_1d."""
    return signal(np.arange(length), dim)


def shift(k: int, dim: int) -> Shift:
    """[[C, S], [-S, C]] with C = diag(cos kw) and S = diag(sin kw)."""
    cos, sin = np.diag(np.cos(k * frequencies(dim))), np.diag(np.sin(k * frequencies(dim)))
    return np.block([[cos, sin], [-sin, cos]])


register(
    Encoding(
        name="tensor2tensor",
        title="Sinusoidal, tensor2tensor",
        summary="All sines, then all cosines; the slowest wave has a timescale of exactly 10,000 positions.",
        enters="added",
        paper="Vaswani et al. 2018, Tensor2Tensor for Neural Machine Translation, AMTA",
        key="vaswani2018tensor2tensor",
        learned=False,
        rows="position",
        columns="sines from the fastest to the slowest, then their cosines",
        note="Not the paper's columns in another order: the frequencies differ too.",
        make_table=table,
        make_shift=shift,
        dim_multiple=2,
    )
)
