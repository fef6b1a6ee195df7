"""A statement's measurement on a turned strip: the rule's line in the middle, what speaks for the claim right of it."""

from collections.abc import Iterable
from dataclasses import dataclass

from analysis.claims.statements.base import CONTRADICTED, SUPPORTED, Judgement, Region
from analysis.claims.statements.comparison import TRAINED
from analysis.claims.statements.margin_contests import STEPS

SEVERAL = ("rows", "published")
"""The kinds of statements that may rest on several readings."""


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Places on a strip from -1 to 1, with the rule's line at 0: right of it speaks for the claim, left against it.

    value: the number that is shown. low, high: the ends of its interval as they lie on the strip, the left one first;
    None for a number without one. others: the other readings of the statement that the same line judges.
    """

    value: float
    low: float | None
    high: float | None
    others: tuple[float, ...]


def strip(judgement: Judgement) -> Strip | None:
    """The strip of a statement; None where nothing is measured, or no line is drawn.

    Places are distances to the nearest bound of the values that support the statement, as parts of the largest on the
    strip. Of a statement that says the opposite of its claim, the sides are exchanged.
    """
    region, effect = decided_at(judgement), judgement.effect
    if region is None or effect is None:
        return None
    sign = -1.0 if judgement.opposes else 1.0
    value = region.depth(effect)
    ends = () if judgement.low is None or judgement.high is None else _interval(region, judgement.low, judgement.high)
    others = tuple(region.depth(other) for other in _other_values(judgement))
    largest = max(map(abs, (value, *ends, *others))) or 1.0
    low, high = sorted(sign * end / largest for end in ends) if ends else (None, None)
    return Strip(
        value=sign * value / largest,
        low=low,
        high=high,
        others=tuple(sorted(sign * other / largest for other in others)),
    )


def decided_at(judgement: Judgement) -> Region | None:
    """The values on the statement's side of the line that decided it.

    That is the line of the values that support it, but where version 2 of the rules looks at the side of no difference
    on which the whole interval lies: it contradicts "the same" even where that begins within its margin, and supports
    "better" and "earlier" where the mean alone lies beyond the margin.
    """
    region, low, high = judgement.region, judgement.low, judgement.high
    if region is None or low is None or high is None or judgement.rules_version != 2:
        return region
    if judgement.verdict == CONTRADICTED and region.lower is not None and region.upper is not None:
        return Region(lower=None, upper=0.0) if low > 0 else Region(lower=0.0, upper=None)
    if judgement.verdict == SUPPORTED and judgement.kind in TRAINED:
        equal = 1.0 if judgement.kind == STEPS else 0.0
        if region.upper is not None and region.upper < high < equal:
            return Region(lower=None, upper=equal)
        if region.lower is not None and equal < low < region.lower:
            return Region(lower=equal, upper=None)
    return region


def _interval(region: Region, low: float, high: float) -> tuple[float, float]:
    """The least and the greatest depth of an interval's values: between two bounds the greatest is in the middle."""
    depths = [region.depth(low), region.depth(high)]
    if region.lower is not None and region.upper is not None and low < (middle := _middle(region)) < high:
        depths.append(region.depth(middle))
    return min(depths), max(depths)


def _middle(region: Region) -> float:
    return ((region.lower or 0.0) + (region.upper or 0.0)) / 2


def _other_values(judgement: Judgement) -> Iterable[float]:
    """The other readings that the rule compares with the same line."""
    if judgement.kind not in SEVERAL:
        return ()
    values = [
        reading.value for reading in judgement.readings if reading.value is not None and reading.line == judgement.line
    ]
    if judgement.effect in values:
        values.remove(judgement.effect)
    return values
