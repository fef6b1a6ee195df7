"""Several measurements tried for one finding: which of them stand after Holm's correction for how many were tried.

p-values are read off 95 % intervals, each end taken as 1.96 standard errors away: of one try alone, a value lies beyond
a threshold exactly where the near end of its interval does.
"""

from collections.abc import Sequence

import numpy as np
from scipy import special

from analysis.claims.base import Row
from analysis.statistics import holm

ALPHA = 0.025
"""On one side, as a 95 % interval has it."""
Z = float(special.ndtri(1 - ALPHA))
NAN = float("nan")


def p_above_zero(gain: float, error: float) -> float:
    """One-sided p-value of a gain above 0; without an error it is certain."""
    if error <= 0:
        return 0.0 if gain > 0 else 1.0
    return float(special.ndtr(-gain / error))


def p_above(row: Row, threshold: float) -> float:
    """p-value of a value above a threshold; a value without an interval is exact."""
    low = row["value"] if row["low"] is None else row["low"]
    return p_above_zero(row["value"] - threshold, (row["value"] - low) / Z)


def p_beyond(row: Row, threshold: float) -> float:
    """p-value of a share beyond ± a threshold, on the side where it lies."""
    low, high = row["share_low"], row["share_high"]
    if low is None or high is None:
        return NAN
    size = row["share"] if row["share"] > 0 else -row["share"]
    return p_above({"value": size, "low": low if row["share"] > 0 else -high}, threshold)


def p_greater(row: Row, than: Row) -> float:
    """p-value of one value above another, both with their intervals."""
    error = np.hypot(row["value"] - row["low"], than["high"] - than["value"]) / Z
    return p_above_zero(row["value"] - than["value"], float(error))


def significant_after_holm(p: Sequence[float]) -> tuple[bool, ...]:
    """Which of them hold, corrected over all; one that is no number was not tried."""
    return holm(p, ALPHA).rejected if len(p) else ()
