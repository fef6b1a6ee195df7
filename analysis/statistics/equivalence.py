"""Different, equivalent within a margin, or open: three verdicts, and none of them from a failed test."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from analysis.statistics.paired import Difference

DIFFERENT = "different"
NOT_RESOLVED = "open"


@dataclass(frozen=True)
class Equivalence:
    """The verdict on a difference against a margin; margin and ends are in the unit of the difference."""

    verdict: str
    """'different', 'equivalent within m' or 'open'."""
    within_margin: bool
    """Shown to lie within the margin. With 'different': there is a difference, and it is less than the margin."""
    margin: float
    p_equivalent: float
    """The larger of the two one-sided p-values; NaN if there is no interval."""
    low: float
    high: float
    """The 1 - 2 alpha interval, within the margin exactly if p_equivalent < alpha."""


def equivalence(result: Difference, margin: float, *, alpha: float = 0.05, p: float | None = None) -> Equivalence:
    """Two one-sided t tests (TOST: Schuirmann 1987) together with the test of no difference.

    margin: the least difference that would matter, which has to be settled before looking at the results.
    p: the p-value of the difference where it was corrected over tasks; else its own.
    A difference that is significant and yet within the margin is 'different', with within_margin.
    """
    if not (np.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin is {margin}; expected a positive number, the smallest difference that matters.")
    different = result.p if p is None else p
    error, df = result.standard_error, result.df
    if np.isnan(result.p):
        p_equivalent = low = high = float("nan")
    else:
        p_equivalent = float(special.stdtr(df, max(-(result.mean + margin), result.mean - margin) / error))
        half_width = float(special.stdtrit(df, 1 - alpha)) * error
        low, high = result.mean - half_width, result.mean + half_width
    within = bool(p_equivalent < alpha)
    verdict = DIFFERENT if different < alpha else f"equivalent within {margin:g}" if within else NOT_RESOLVED
    return Equivalence(verdict, within, margin, p_equivalent, low, high)


def unresolved_reason(result: Difference) -> str:
    """The reason why a difference, neither equivalent nor different, is open: for after "open:"."""
    if result.low > 0 or result.high < 0:
        return "the interval excludes zero by itself, but after Holm's correction over several tests it does not"
    return "the interval contains zero as well as differences that matter"


@dataclass(frozen=True)
class Tie:
    """A comparison of a difference with the smallest one that the seeds at hand can tell from none."""

    tied: bool
    sentence: str


def tie(difference: float, resolvable: float) -> Tie:
    """A tie where |difference| < resolvable: for figures that have no seeds of their own, as published ones.

    resolvable: the least difference that could have been told from none, in the same unit; see
    smallest_detectable. A tie is a statement about the resolution, never that the two are the same.
    """
    if not (np.isfinite(difference) and np.isfinite(resolvable)):
        return Tie(False, "not known: no difference, or no resolution to hold it against")
    tied = bool(abs(difference) < resolvable)
    start = f"a tie: {abs(difference):.3g} is" if tied else f"no tie: {abs(difference):.3g} is not"
    sentence = f"{start} less than {resolvable:.3g}, the smallest difference that can be resolved here"
    return Tie(tied, sentence)
