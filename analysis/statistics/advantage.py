"""Fits a power law to a difference by the length of training, with the interval of its mean."""

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
    residual_sd: float
    """Standard deviation of the residuals, in logarithms; not a number with fewer than three values."""
    mean_log_steps: float
    """Mean of the logarithms of steps."""
    sum_of_squares: float
    """Their sum of squares around it."""

    def predict(
        self, steps: Float[ndarray, " point"]
    ) -> tuple[Float[ndarray, " point"], Float[ndarray, " point"], Float[ndarray, " point"]]:
        """The fitted size at each number of steps, and the ends of the 95 % interval of its mean."""
        x = np.log(np.asarray(steps, dtype=float))
        fitted = self.intercept + self.exponent * x
        error = self.residual_sd * np.sqrt(1 / self.n + (x - self.mean_log_steps) ** 2 / self.sum_of_squares)
        half_width = _t_quantile(self.n - 2) * error
        return np.exp(fitted), np.exp(fitted - half_width), np.exp(fitted + half_width)


def power_law(steps: Sequence[float], sizes: Sequence[float]) -> PowerLaw:
    """Fits positive sizes at positive numbers of steps. Raises ValueError for others, or for one length alone."""
    x, y = np.asarray(steps, dtype=float), np.asarray(sizes, dtype=float)
    if x.shape != y.shape or (x <= 0).any() or not (np.isfinite(y) & (y > 0)).all():
        raise ValueError("A power law is fitted to as many positive sizes as numbers of steps.")
    if len(np.unique(x)) < 2:
        raise ValueError("A power law needs sizes at two lengths or more.")
    x, y = np.log(x), np.log(y)
    center = float(x.mean())
    sum_of_squares = float(((x - center) ** 2).sum())
    exponent = float(((x - center) * y).sum() / sum_of_squares)
    intercept = float(y.mean() - exponent * center)
    df = len(x) - 2
    residuals = y - intercept - exponent * x
    residual_sd = float(np.sqrt((residuals**2).sum() / df)) if df > 0 else float("nan")
    half_width = _t_quantile(df) * residual_sd / np.sqrt(sum_of_squares) if df > 0 else float("nan")
    return PowerLaw(
        exponent, exponent - half_width, exponent + half_width, intercept, len(x), residual_sd, center, sum_of_squares
    )


def _t_quantile(df: int) -> float:
    return float(special.stdtrit(df, 0.975)) if df > 0 else float("nan")
