"""Counts the directions of a position basis in three ways. Pure functions of a matrix (slot, dim)."""

from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.optimize import brentq

CAP = 20
"""The most that the rank estimate can be, as Song & Zhong 2023 set it."""


def stable_rank(basis: Float[ndarray, "slot dim"]) -> float:
    """Sum of the squared singular values over the largest one; NaN for a basis of zeros."""
    squares = np.linalg.svd(basis, compute_uv=False) ** 2
    return float(squares.sum() / squares[0]) if squares[0] else np.nan


def effective_rank(basis: Float[ndarray, "slot dim"]) -> float:
    """exp of the entropy of the singular values over their sum (Roy & Vetterli 2007); NaN for a basis of zeros."""
    values = np.linalg.svd(basis, compute_uv=False)
    if not values[0]:
        return np.nan
    shares = values[values > 0] / values.sum()
    return float(np.exp(-(shares * np.log(shares)).sum()))


def rank_estimate(basis: Float[ndarray, "slot dim"], cap: int = CAP) -> int:
    """Singular values above the threshold of ScreeNOT: those that the noise in the basis does not explain.

    Donoho, Gavish & Romanov 2023, "ScreeNOT: exact MSE-optimal singular value thresholding in correlated noise".
    At most `cap`; needs more than 2 * cap + 1 rows and columns, else NaN would be no whole number: ValueError.
    """
    values = np.linalg.svd(basis, compute_uv=False)
    return int((values > _threshold(values, cap, min(basis.shape) / max(basis.shape))).sum())


def _threshold(values: Float[ndarray, " n"], cap: int, ratio: float) -> float:
    """The point where their functional Psi of the noise's singular values is -4 (their section 2, equation 14)."""
    noise = _noise(values, cap)

    def psi(y: float) -> float:
        phi = np.mean(y / (y**2 - noise**2))
        slope = np.mean(-(y**2 + noise**2) / (y**2 - noise**2) ** 2)
        other, other_slope = ratio * phi + (1 - ratio) / y, ratio * slope - (1 - ratio) / y**2
        return float(y * (slope / phi + other_slope / other))

    top = float(noise[0])
    if top == 0:
        return 0.0
    high = 2 * top
    while psi(high) < -4:
        high *= 2
    root: Any = brentq(lambda y: psi(y) + 4, top * (1 + 1e-9), high)
    return float(root)


def _noise(values: Float[ndarray, " n"], cap: int) -> Float[ndarray, " n"]:
    """The singular values, descending, with the `cap` largest put in from the shape of the edge of noise."""
    if 2 * cap + 1 >= len(values):
        raise ValueError(f"{len(values)} singular values are too few for a rank of up to {cap}")
    edge, inner = values[cap], values[2 * cap]
    rise = (1 - (np.arange(cap) / cap) ** (2 / 3)) / (2 ** (2 / 3) - 1)
    return np.concatenate([edge + rise * (edge - inner), values[cap:]])
