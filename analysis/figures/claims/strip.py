"""A statement's measurement on a turned strip: the rule's line in the middle, what speaks for the claim right of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from analysis.claims.statements.comparison import TRAINED
from analysis.claims.statements.judgement import COMPARED_WITH, CONTRADICTED, OPEN, SUPPORTED, Judgement, Region
from analysis.claims.statements.margin_contests import STEPS

SEVERAL = ("rows", "published")
"""The kinds of statements that may rest on several readings."""


TURNED = ("C34a",)
"""Statements of "the same" whose rule subtracts the other encoder than the rules of its siblings do: told the other way
round, all of them read "own less shared", and one sign has one meaning."""


def as_told(judgement: Judgement) -> Judgement:
    """A statement as it is shown: of one that is turned, the second encoder less the first. Its strip is the same."""
    if judgement.id not in TURNED or judgement.effect is None:
        return judgement
    first, between, second = judgement.pair.partition(COMPARED_WITH)
    low, high = (None if end is None else -end for end in (judgement.high, judgement.low))
    return replace(judgement, effect=-judgement.effect, low=low, high=high, pair=f"{second}{between}{first}")


@dataclass(frozen=True, kw_only=True)
class Strip:
    """Places on a strip from -1 to 1, with the rule's line at 0: right of it speaks for the claim, left against it.

    value: the number that is shown. low, high: the ends of its interval as they lie on the strip, the left one first;
    None for a number without one. others: the other readings of the statement that the same line judges. resolved:
    whether each of these holds or fails, after the rule's correction. far: the second line of a statement that two
    bounds support, such as "the same"; None for one bound.
    """

    value: float
    low: float | None
    high: float | None
    others: tuple[float, ...]
    resolved: tuple[bool, ...]
    far: float | None


def strip(judgement: Judgement) -> Strip | None:
    """The strip of a statement; None where nothing is measured, or no line is drawn.

    Places are distances to one bound of the values that support the statement, the nearest to its number, as parts of
    the largest on the strip. Of a statement that says the opposite of its claim, the sides are exchanged.
    """
    region, effect = decided_at(judgement), judgement.effect
    if region is None or effect is None:
        return None
    sign = -1.0 if judgement.opposes else 1.0
    depth = _depth_from_nearest_bound(region, effect)
    value = depth(effect)
    ends = () if judgement.low is None or judgement.high is None else (depth(judgement.low), depth(judgement.high))
    readings = _other_readings(judgement)
    others = sorted((sign * depth(value), resolved) for value, resolved in readings)
    far = None if region.lower is None or region.upper is None else region.upper - region.lower
    largest = max(map(abs, (value, *ends, *(place for place, _ in others), far or 0.0))) or 1.0
    low, high = sorted(sign * end / largest for end in ends) if ends else (None, None)
    return Strip(
        value=sign * value / largest,
        low=low,
        high=high,
        others=tuple(place / largest for place, _ in others),
        resolved=tuple(resolved for _, resolved in others),
        far=None if far is None else sign * far / largest,
    )


def decided_at(judgement: Judgement) -> Region | None:
    """The values on the statement's side of the line that decided it.

    That is the line of the values that support it, but where version 2 of the rules, or a later file that judges in its
    way, looks at the side of no difference on which the whole interval lies: it contradicts "the same" even where that
    begins within its margin, and supports "better" and "earlier" where the mean alone lies beyond the margin.
    """
    region, low, high = judgement.region, judgement.low, judgement.high
    if region is None or low is None or high is None:
        return region
    if judgement.verdict == CONTRADICTED and region.lower is not None and region.upper is not None:
        # By margins, an interval that contradicts "the same" lies wholly beyond one of them.
        if judgement.rules_version != 2 and (low >= region.upper or high <= region.lower):
            return region
        return Region(lower=None, upper=0.0) if low > 0 else Region(lower=0.0, upper=None)
    if judgement.verdict == SUPPORTED and judgement.kind in TRAINED:
        equal = 1.0 if judgement.kind == STEPS else 0.0
        if region.upper is not None and region.upper < high < equal:
            return Region(lower=None, upper=equal)
        if region.lower is not None and equal < low < region.lower:
            return Region(lower=equal, upper=None)
    return region


def _depth_from_nearest_bound(region: Region, effect: float) -> Callable[[float], float]:
    """The signed distance of a value from the bound that is nearest to the effect: above 0 on the region's side."""
    lower, upper = region.lower, region.upper
    if upper is not None and (lower is None or upper - effect <= effect - lower):
        return lambda value: upper - value
    return lambda value: value - (lower or 0.0)


def _other_readings(judgement: Judgement) -> list[tuple[float, bool]]:
    """The values of the other readings that the rule compares with the same line, and whether each is resolved."""
    if judgement.kind not in SEVERAL:
        return []
    found = [
        (reading.value, reading.standing != OPEN)
        for reading in judgement.readings
        if reading.value is not None and reading.line == judgement.line
    ]
    shown = next((one for one in found if one[0] == judgement.effect), None)
    if shown is not None:
        found.remove(shown)
    return found
