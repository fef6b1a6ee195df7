"""Equivariance error by depth: does permuting the words of a window do more than permute their states?

Without positions an encoder is equivariant whatever its depth, since attention sums over keys and the rest acts on
each token alone; a causal mask breaks that. Frames of special tokens stay where they are. Computed in float64, so that
rounding is far from anything else. Pure; shapes: B window, T token, D width.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int64
from numpy import ndarray

MOVED, LAST = "moved", "last"


@dataclass(frozen=True)
class EquivarianceError:
    """Mean squares over tokens and dimensions, for each window."""

    error: Float[ndarray, " window"]
    """The mean square of the states of the permuted window less the permuted states."""
    apart: Float[ndarray, " window"]
    """The mean square of the difference of two different words of the window: the error is compared with it."""
    largest: float
    """The largest error of a single number, in units of states."""

    @property
    def value(self) -> float:
        """Root mean square of the error over that of the difference of two words."""
        return float(np.sqrt(self.error.mean() / self.apart.mean()))


def permutations(
    windows: int, words: Int64[ndarray, " word"], length: int, seed: int
) -> Int64[ndarray, "window token"]:
    """A permutation of the words of every window: token i of the permuted window is token [i] of the window."""
    rng = np.random.default_rng(seed)
    orders = np.tile(np.arange(length), (windows, 1))
    for order in orders:
        order[words] = rng.permutation(words)
    return orders


def equivariance_error(
    states: Float[ndarray, "B T D"],
    permuted: Float[ndarray, "B T D"],
    order: Int64[ndarray, "B T"],
    words: Int64[ndarray, " word"],
    tokens: Int64[ndarray, " token"],
) -> EquivarianceError:
    """The difference of the states of permuted windows from the permuted states of windows, over `tokens`.

    order: as `permutations` gives it. words: the numbers of the tokens that are words; the error is compared with the
    difference of two of them.
    """
    error = (permuted - np.take_along_axis(states, order[..., None], 1))[:, tokens]
    among = states[:, words]
    # Of n vectors, the mean square of the difference of two different ones is 2 n / (n - 1) times their variance.
    apart = 2 * len(words) / (len(words) - 1) * among.var(1).mean(-1)
    return EquivarianceError((error**2).mean((1, 2)), apart, float(np.abs(error).max()))
