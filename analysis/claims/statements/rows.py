"""Rows compared with a line, counted by family: how a statement of kind `rows` or `published` is decided."""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scipy import special

from analysis.ablation.variants import readable
from analysis.claims.statements.judgement import CONTRADICTED, FAILS, HOLDS, MIXED, OPEN, SUPPORTED, Reading
from analysis.core.formatting import join_names, plural
from analysis.statistics import holm

MAJORITY_SHARE = 0.75
"""The share of families that makes a statement about most of them true, or false."""
ALPHA = 0.025
"""The level of a one-sided test, which equals one tail of a 95 % interval."""
Z = float(special.ndtri(1 - ALPHA))


class Line(NamedTuple):
    """A value, with the ends of its interval where it has one, and the line that it is compared with."""

    source: str
    family: str
    value: float
    low: float | None
    high: float | None
    line: float

    @property
    def exact(self) -> bool:
        """The value has no interval. Such a value does not hold if it lies exactly on its line."""
        return self.low is None or self.high is None


def readings(rows: Sequence[Mapping[str, Any]], holds: str) -> list[Reading]:
    """Each row read against its own line, after Holm's correction over all of them on each side.

    rows: source, family, value, low, high, line. holds: `above` or `below`, the side of the line on which a row holds.
    """
    if holds not in ("above", "below"):
        raise ValueError(f"A row holds 'above' or 'below' its line, not {holds!r}.")
    lines = [_line(row) for row in rows]
    upward = [_gain(row, 1) for row in lines]
    downward = [_gain(row, -1) for row in lines]
    higher = significant_after_holm([p_above_zero(*gain) for gain in upward])
    lower = significant_after_holm([p_above_zero(*gain) for gain in downward])
    sides = (higher, lower) if holds == "above" else (lower, higher)
    return [
        Reading(
            source=readable(row.source),
            family=row.family,
            standing=HOLDS if beyond else FAILS if short_of or row.exact else OPEN,
            value=row.value,
            low=row.low,
            high=row.high,
            line=row.line,
        )
        for row, beyond, short_of in zip(lines, *sides, strict=True)
    ]


def _line(row: Mapping[str, Any]) -> Line:
    """A row with its numbers as floats: SQL's literals come as decimals."""
    low, high = (None if row[name] is None else float(row[name]) for name in ("low", "high"))
    return Line(row["source"], row["family"], float(row["value"]), low, high, float(row["line"]))


def _gain(row: Line, sign: int) -> tuple[float, float | None]:
    """The row's distance beyond its line towards one side, with the end of its interval that is nearer to the line."""
    bound = row.low if sign > 0 else row.high
    near = None if row.exact or bound is None else sign * (bound - row.line)
    return sign * (row.value - row.line), near


def families(readings: Iterable[Reading]) -> dict[str, str]:
    """Family -> its standing: it fails if one of its rows does, and holds if all of them do."""
    standings: dict[str, list[str]] = {}
    for reading in readings:
        standings.setdefault(reading.family or reading.source, []).append(reading.standing)
    return {
        family: FAILS if FAILS in members else OPEN if OPEN in members else HOLDS
        for family, members in standings.items()
    }


def decide(readings: Sequence[Reading], quantifier: str, minimum: int, *, exhaustive: bool = False) -> str:
    """The verdict that these readings give.

    quantifier: `every`, `most` or `some` family. minimum: with fewer families `every` and `most` are open. exhaustive:
    for `some`, whether nothing was left out of the search. Raises ValueError for another quantifier.
    """
    standings = list(families(readings).values())
    holding, failing = standings.count(HOLDS), standings.count(FAILS)
    if quantifier == "some":
        if holding:
            return SUPPORTED
        return CONTRADICTED if exhaustive and standings and failing == len(standings) else OPEN
    if len(standings) < max(1, minimum):
        return OPEN
    if quantifier == "every":
        return CONTRADICTED if failing else SUPPORTED if holding == len(standings) else OPEN
    if quantifier == "most":
        if holding >= MAJORITY_SHARE * len(standings):
            return SUPPORTED
        if failing >= MAJORITY_SHARE * len(standings):
            return CONTRADICTED
        return MIXED if OPEN not in standings else OPEN
    raise ValueError(f"A statement is about 'every', 'most' or 'some' family, not {quantifier!r}.")


def sharper(readings: Sequence[Reading], quantifier: str) -> str:
    """The evidence that decides a statement with enough readings, not all resolved; empty where all of them are."""
    standings = families(readings)
    waiting = [name for name, standing in standings.items() if standing == OPEN]
    if not waiting:
        return ""
    undecided = [one for one in readings if one.standing == OPEN]
    around = {one.family or one.source for one in undecided if _contains_line(one)}
    beside = [name for name in waiting if name not in around]
    sharp = f"a sharper measurement of {_names(waiting)}: {_intervals(len(waiting) - len(beside), len(beside))}"
    if beside:
        sharp = f"{sharp} before Holm's correction over {plural(len(readings), 'reading')}, but not after it"
    if quantifier == "every":
        return f"{sharp}; a further model can contradict the statement, but cannot support it"
    if quantifier != "most":
        return sharp
    total, found = len(standings), list(standings.values())
    more = {word: _further(found.count(word), total) for word in (HOLDS, FAILS)}
    return f"{sharp}; or {plural(more[HOLDS], 'further model')} that all hold, or {more[FAILS]} that all fail"


def _intervals(containing: int, excluding: int) -> str:
    """The numbers of models whose interval contains the line, and of those whose interval excludes it, in words."""
    if not excluding:
        return "its interval contains the line" if containing == 1 else "their intervals contain the line"
    if not containing:
        return "its interval excludes the line" if excluding == 1 else "their intervals exclude the line"
    contain, exclude = "contains" if containing == 1 else "contain", "excludes" if excluding == 1 else "exclude"
    return f"{containing} of their intervals {contain} the line, and {excluding} {exclude} it"


def _contains_line(reading: Reading) -> bool:
    """The 95 % interval of one reading, before any correction, contains its line."""
    low, high, line = reading.low, reading.high, reading.line
    return low is None or high is None or line is None or low <= line <= high


def _names(families: Sequence[str]) -> str:
    """The names of a few families, or their number."""
    return join_names(map(readable, families)) if len(families) <= 3 else f"{len(families)} models"


def _further(count: int, total: int) -> int:
    """The number of further families of one standing with which that standing is the majority's."""
    return next(more for more in itertools.count() if count + more >= MAJORITY_SHARE * (total + more))


NAMED = 3
"""The most readings of one standing that a sentence names."""
WHOLE = {
    HOLDS: ("The one reading holds", "Both readings hold", "All {} readings hold"),
    FAILS: ("The one reading does not hold", "Neither of two readings holds", "None of {} readings holds"),
}
"""Standing -> its words where all readings have it: of one, of two and of more."""


def tally(readings: Sequence[Reading]) -> str:
    """The readings that hold, and those that do not, in words: `5 of 6 readings hold; it fails for GPT-2`."""
    standing = {word: [one.source for one in readings if one.standing == word] for word in (HOLDS, FAILS, OPEN)}
    count = len(readings)
    for word, words in WHOLE.items():
        if len(standing[word]) == count:
            return words[min(count, len(words)) - 1].format(count)
    text = f"{len(standing[HOLDS])} of {plural(count, 'reading')} hold"
    for word, verb in ((FAILS, "it fails"), (OPEN, "it is open")):
        if (names := standing[word]) and (len(names) <= NAMED or standing[OPEN]):
            text += f"; {verb} for {join_names(names) if len(names) <= NAMED else plural(len(names), 'reading')}"
    return text


def source_with_ties(deciding: Reading, readings: Sequence[Reading]) -> str:
    """The name of the reading that a verdict hangs on, and the number of others that have its value and its line."""
    others = sum((one.value, one.line) == (deciding.value, deciding.line) for one in readings) - 1
    return f"{deciding.source} and {plural(others, 'other')} alike" if others > 0 else deciding.source


def deciding_words(reading: Reading, quantifier: str) -> str:
    """The words that lead to the reading that `deciding` returns."""
    if quantifier == "some":
        return "It is clearest for"
    return {HOLDS: "It holds least clearly for", FAILS: "It fails most clearly for"}.get(
        reading.standing, "It is furthest from holding for"
    )


def deciding(readings: Sequence[Reading], holds: str, quantifier: str) -> Reading | None:
    """The reading that a verdict hangs on: where one suffices, the one that holds most; else the one that holds least.

    Where some fail, the one that holds least is the one that fails most.
    """
    measured = [reading for reading in readings if reading.value is not None and reading.line is not None]
    sign = (1 if holds == "above" else -1) * (-1 if quantifier == "some" else 1)
    return min(measured, key=lambda reading: sign * ((reading.value or 0.0) - (reading.line or 0.0)), default=None)


def p_above_zero(gain: float, near: float | None) -> float:
    """One-sided p-value of a gain above 0, read off its 95 % interval, each end taken as 1.96 standard errors away.

    So of one try alone, a value lies beyond a threshold exactly where the near end of its interval does. near: the end
    that is nearer to 0; None: exact.
    """
    error = 0.0 if near is None else (gain - near) / Z
    if error <= 0:
        return 0.0 if gain > 0 else 1.0
    return float(special.ndtr(-gain / error))


def significant_after_holm(p: Sequence[float]) -> tuple[bool, ...]:
    """True for every p-value that is significant after Holm's correction over all; a NaN counts as not tried."""
    return holm(p, ALPHA).rejected if len(p) else ()
