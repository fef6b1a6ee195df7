"""Several measurements tried for one finding: which of them stand after Holm's correction for how many were tried.

p-values are read off 95 % intervals, each end taken as 1.96 standard errors away: of one try alone, a value lies beyond
a threshold exactly where the near end of its interval does.
"""

from collections.abc import Sequence

from scipy import special

from analysis.statistics import holm

ALPHA = 0.025
"""The level of a one-sided test, which equals one tail of a 95 % interval."""
Z = float(special.ndtri(1 - ALPHA))


def p_above_zero(gain: float, near: float | None) -> float:
    """One-sided p-value of a gain above 0. near: the end of its 95 % interval that is nearer to 0; None: exact."""
    error = 0.0 if near is None else (gain - near) / Z
    if error <= 0:
        return 0.0 if gain > 0 else 1.0
    return float(special.ndtr(-gain / error))


def significant_after_holm(p: Sequence[float]) -> tuple[bool, ...]:
    """True for every p-value that is significant after Holm's correction over all; a NaN counts as not tried."""
    return holm(p, ALPHA).rejected if len(p) else ()
