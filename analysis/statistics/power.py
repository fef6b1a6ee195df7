"""The power of a paired t test over seeds, and the smallest difference that it is likely to find."""

import math
from bisect import bisect_left
from functools import cache

import numpy as np
from scipy import special

NODES, WEIGHTS = np.polynomial.legendre.leggauss(128)
# scipy's integration and root finding would take longer to import than a page may take to load.


def t_test_power(effect: float, sd: float, n: int, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t test over n seeds finds a true mean difference of `effect`.

    sd: of the paired differences. The tail areas of the noncentral t with n - 1 degrees of freedom and
    noncentrality effect / sd * sqrt(n) (Cohen 1988, chapter 2), as an integral of the normal distribution
    over the chi that the sample's sd follows: error below 1e-8, also at the large noncentralities of
    two or three seeds, where scipy's nct gives NaN.
    """
    if n < 2 or not sd > 0 or not np.isfinite([effect, sd]).all():
        return float("nan")
    df = n - 1
    critical = -float(special.stdtrit(df, alpha / 2))
    shift = abs(effect) / sd * np.sqrt(n)
    log_scale = (df / 2 - 1) * math.log(2) + math.lgamma(df / 2)
    # Where the first tail falls from 1 to 0: the integrand bends there.
    bend = shift * np.sqrt(df) / critical
    upper = math.sqrt(2 * special.gammainccinv(df / 2, 1e-14))
    points = np.clip([bend + d * np.sqrt(df) / critical for d in (-8, 0, 8)], 0, upper)
    edges = np.array([0.0, *sorted(points), upper])
    half_widths, centers = np.diff(edges)[:, None] / 2, (edges[:-1, None] + edges[1:, None]) / 2
    s = centers + half_widths * NODES
    density = np.exp(special.xlogy(df - 1, s) - s * s / 2 - log_scale)
    scaled = critical * s / math.sqrt(df)
    integrand = density * (special.ndtr(shift - scaled) + special.ndtr(-shift - scaled))
    return float(min((half_widths * integrand * WEIGHTS).sum(), 1))


def smallest_detectable(sd: float, n: int, alpha: float = 0.05, power: float = 0.8) -> float:
    """The true mean difference that a two-sided paired t test over n seeds finds with chance `power`.

    sd: of the paired differences, whose unit the answer has. NaN for fewer than two seeds or no sd. An sd
    of three seeds is itself uncertain by half to six times (95 %), and so is what follows from it.
    """
    if not 0 < alpha < power < 1:
        raise ValueError(f"alpha {alpha} and power {power}; expected 0 < alpha < power < 1.")
    if n < 2 or not sd > 0 or not np.isfinite(sd):
        return float("nan")
    return sd * _detectable_at_unit_sd(n, alpha, power)


@cache
def _detectable_at_unit_sd(n: int, alpha: float, power: float) -> float:
    low, high = 0.0, 1.0
    while t_test_power(high, 1, n, alpha) < power:
        low, high = high, 2 * high
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if t_test_power(middle, 1, n, alpha) > power else (middle, high)
    return high


def seeds_needed(
    effect: float, sd: float, *, alpha: float = 0.05, power: float = 0.8, maximum: int = 1_000
) -> int | None:
    """The fewest seeds with which a two-sided paired t test finds this effect with chance `power`.

    sd: of the paired differences, in the effect's unit. None if there is no sd, or where `maximum` would not do.
    """
    if not sd > 0 or not np.isfinite(sd):
        return None
    counts = range(2, maximum)
    place = bisect_left(counts, power, key=lambda n: t_test_power(effect, sd, n, alpha))
    return counts[place] if place < len(counts) else None
