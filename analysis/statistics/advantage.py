"""How a difference changes with the length of training: a power law through it, with the interval of its mean."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy import special


@dataclass(frozen=True)
class PowerLaw:
    """`size = exp(intercept) * steps ** exponent`, by least squares of the logarithms.

    low, high: the 95 % t interval of the exponent; not a number with fewer than three values.
    """

    exponent: float
    low: float
    high: float
    intercept: float
    n: int
    spread: float
    """Standard deviation of the residuals, in logarithms; not a number with fewer than three values."""
    middle: float
    """Mean of the logarithms of steps."""
    square: float
    """Their sum of squares around it."""

    def at(
        self, steps: Float[ndarray, " point"]
    ) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"], Float[ndarray, " point"]]:
        """The fitted size at each number of steps, and the ends of the 95 % interval of its mean."""
        x = np.log(np.asarray(steps, dtype=float))
        fitted = self.intercept + self.exponent * x
        error = self.spread * np.sqrt(1 / self.n + (x - self.middle) ** 2 / self.square)
        half = _t(self.n - 2) * error
        return np.exp(fitted), np.exp(fitted - half), np.exp(fitted + half)


def power_law(steps: Sequence[float], sizes: Sequence[float]) -> PowerLaw:
    """Fits positive sizes at positive numbers of steps. Raises ValueError for others, or for one length alone."""
    x, y = np.asarray(steps, dtype=float), np.asarray(sizes, dtype=float)
    if x.shape != y.shape or (x <= 0).any() or not (np.isfinite(y) & (y > 0)).all():
        raise ValueError("A power law is fitted to as many positive sizes as numbers of steps.")
    if len(np.unique(x)) < 2:
        raise ValueError("A power law needs sizes at two lengths or more.")
    x, y = np.log(x), np.log(y)
    middle = float(x.mean())
    square = float(((x - middle) ** 2).sum())
    exponent = float(((x - middle) * y).sum() / square)
    intercept = float(y.mean() - exponent * middle)
    free = len(x) - 2
    residual = y - intercept - exponent * x
    spread = float(np.sqrt((residual**2).sum() / free)) if free > 0 else float("nan")
    half = _t(free) * spread / np.sqrt(square) if free > 0 else float("nan")
    return PowerLaw(exponent, exponent - half, exponent + half, intercept, len(x), spread, middle, square)


def _t(free: int) -> float:
    return float(special.stdtrit(free, 0.975)) if free > 0 else float("nan")
