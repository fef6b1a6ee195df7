"""A difference tested against a margin, for a statement and against it: version 3 of the rules for trainings.

A statement about a difference d (variant less baseline; lower is better) and a margin m > 0 is one of:

===============  =========================  ===============================
expects          holds if                   its opposite
===============  =========================  ===============================
better           d < -m, two-sided 5 %      d > -m, one-sided 5 %
worse            d > m, two-sided 5 %       d < m, one-sided 5 %
the same         -m < d < m, TOST 5 %       |d| > m, two-sided 5 %
not worse        d < m, one-sided 5 %       d > m, two-sided 5 %
not better       d > -m, one-sided 5 %      d < -m, two-sided 5 %
slightly better  -m < d < 0, two-sided 5 %  d > 0 or d < -m, two-sided 5 %
slightly worse   0 < d < m, two-sided 5 %   d < 0 or d > m, two-sided 5 %
===============  =========================  ===============================

"Two-sided 5 %" is what a 95 % interval wholly beyond the margin means, one-sided 2.5 %. Each statement has a p-value
for and one against, so that both can be corrected over a family of statements.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from scipy import special

from analysis.statistics.multiple import holm
from analysis.statistics.paired import Difference
from analysis.statistics.power import seeds_needed

Outcome = Literal["supported", "contradicted", "open"]
SLIGHTLY_BETTER, SLIGHTLY_WORSE = "slightly better", "slightly worse"
INTERVAL, ONE_SIDED = 0.025, 0.05
"""Levels of a test by one end of a 95 % interval, and of a one-sided test."""


@dataclass(frozen=True, kw_only=True)
class MarginTest:
    """The p-values for a statement and against it, each with the level that it must not exceed."""

    p_for: float
    p_against: float
    level_for: float
    level_against: float


NOT_TESTED = MarginTest(p_for=1.0, p_against=1.0, level_for=0.0, level_against=0.0)
"""A statement whose runs are not all there yet: it counts in its family as one that found nothing."""


def p_below(result: Difference, limit: float) -> float:
    """The one-sided p-value of a mean below a limit, by Student's t; 1 for one that has no standard error."""
    if math.isnan(result.p):
        return 1.0
    return float(special.stdtr(result.df, (result.mean - limit) / result.standard_error))


def p_above(result: Difference, limit: float) -> float:
    """The one-sided p-value of a mean above a limit, by Student's t; 1 for one that has no standard error."""
    if math.isnan(result.p):
        return 1.0
    return float(special.stdtr(result.df, (limit - result.mean) / result.standard_error))


def _directed(p_for: float, p_against: float, *, strict: bool) -> MarginTest:
    """A test whose statement asks for a 95 % interval wholly beyond its line (strict), or for a one-sided test."""
    levels = (INTERVAL, ONE_SIDED) if strict else (ONE_SIDED, INTERVAL)
    return MarginTest(p_for=p_for, p_against=p_against, level_for=levels[0], level_against=levels[1])


def _better(result: Difference, margin: float) -> MarginTest:
    return _directed(p_below(result, -margin), p_above(result, -margin), strict=True)


def _worse(result: Difference, margin: float) -> MarginTest:
    return _directed(p_above(result, margin), p_below(result, margin), strict=True)


def _not_better(result: Difference, margin: float) -> MarginTest:
    return _directed(p_above(result, -margin), p_below(result, -margin), strict=False)


def _not_worse(result: Difference, margin: float) -> MarginTest:
    return _directed(p_below(result, margin), p_above(result, margin), strict=False)


def _within_and_beyond(result: Difference, low: float, high: float) -> tuple[float, float]:
    """The p-values of a mean between two limits, and of one that lies beyond either of them."""
    within = max(p_above(result, low), p_below(result, high))
    return within, min(p_below(result, low), p_above(result, high))


def _the_same(result: Difference, margin: float) -> MarginTest:
    return _directed(*_within_and_beyond(result, -margin, margin), strict=False)


def _slightly_better(result: Difference, margin: float) -> MarginTest:
    within, beyond = _within_and_beyond(result, -margin, 0.0)
    return MarginTest(p_for=within, p_against=beyond, level_for=INTERVAL, level_against=INTERVAL)


def _slightly_worse(result: Difference, margin: float) -> MarginTest:
    within, beyond = _within_and_beyond(result, 0.0, margin)
    return MarginTest(p_for=within, p_against=beyond, level_for=INTERVAL, level_against=INTERVAL)


TESTS: Mapping[str, Callable[[Difference, float], MarginTest]] = {
    "better": _better,
    "worse": _worse,
    "the same": _the_same,
    "not worse": _not_worse,
    "not better": _not_better,
    SLIGHTLY_BETTER: _slightly_better,
    SLIGHTLY_WORSE: _slightly_worse,
    # Of logarithms of steps, with the logarithm of the ratio that counts as earlier for a margin.
    "earlier": _better,
    "not earlier": _not_better,
}
"""The test of each kind of statement, by the expectation that it states."""


LINES: Mapping[str, tuple[float, ...]] = {
    "worse": (1.0,),
    "not worse": (1.0,),
    "the same": (1.0, -1.0),
    SLIGHTLY_BETTER: (0.0, -1.0),
    SLIGHTLY_WORSE: (0.0, 1.0),
}
"""The lines between what a statement expects and its opposite, as parts of the margin; -1 of every other statement."""


def margin_test(result: Difference, expect: str, margin: float) -> MarginTest:
    """The test of one statement. margin: in the unit of the difference.

    Raises ValueError for a margin that is not positive, or for what no statement expects.
    """
    if not (math.isfinite(margin) and margin > 0):
        raise ValueError(f"The margin is {margin}; expected a positive number, the smallest difference that matters.")
    if expect not in TESTS:
        raise ValueError(f"A statement expects one of {', '.join(TESTS)}, not {expect!r}.")
    return TESTS[expect](result, margin)


def seeds_to_decide(result: Difference, expect: str, margin: float) -> int | None:
    """The fewest new seeds with which `margin_test` would decide a statement, for it or against it, 4 times in 5.

    It takes the mean and the standard deviation of the differences found so far for the true ones, and the statement
    for one that is tested alone; of a statement that two lines bound, it counts the nearer one only. None where a
    thousand seeds would not do, or where no spread is known.
    """
    test = margin_test(result, expect, margin)
    lines = LINES.get(expect, (-1.0,))
    holds = test.p_for < test.p_against
    level = test.level_for if holds else test.level_against
    return seeds_needed(min((result.mean - line * margin for line in lines), key=abs), result.sd, alpha=2 * level)


def less_between_groups(result: Difference, margin: float) -> MarginTest:
    """The test that one mean is below another by `margin` or more, for groups that share no seeds.

    It holds if the 95 % interval lies below zero and the mean is at most -margin; its opposite holds if the interval's
    lower end lies above -margin.
    """
    enough = result.mean <= -margin
    return MarginTest(
        p_for=p_below(result, 0.0) if enough else 1.0,
        p_against=p_above(result, -margin),
        level_for=INTERVAL,
        level_against=INTERVAL,
    )


def outcomes(tests: Sequence[MarginTest]) -> list[Outcome]:
    """The outcome of each statement of a family, after Holm's correction (1979) of both kinds of p-values."""
    corrected = (holm([test.p_for for test in tests]), holm([test.p_against for test in tests]))
    return [
        "supported" if p_for < test.level_for else "contradicted" if p_against < test.level_against else "open"
        for test, p_for, p_against in zip(tests, *(result.adjusted for result in corrected), strict=True)
    ]
