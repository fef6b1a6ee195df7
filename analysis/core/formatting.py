"""Numbers and lists as they are printed on screen and in sentences: a true minus sign, never -0.00."""

import math
import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
UNDEFINED = "undefined"
SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:%|nats?|points?|ms|MiB|GiB)(?!\w))")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z“('])")


def signed(value: float, decimals: int = 2) -> str:
    """A number with its sign, as it is printed: a true minus, never -0.00; "undefined" where it is no number."""
    if value != value:
        return UNDEFINED
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}".replace("-", "−")


def signed_or_zero(value: float, decimals: int = 2) -> str:
    """A number with its sign, and without one where it rounds to zero: 0.00."""
    return signed(value, decimals) if round(value, decimals) else fixed(0.0, decimals)


def fixed(value: float, decimals: int = 2) -> str:
    """A number as it is printed: a true minus, never -0.00."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def percent(fraction: float, decimals: int = 0) -> str:
    """A fraction as a percentage, with a true minus, never -0: 38 %."""
    return f"{fixed(100 * fraction, decimals)} %"


def signed_percent(fraction: float, decimals: int = 0) -> str:
    """A fraction as a percentage with its sign: +5 %."""
    return f"{signed(100 * fraction, decimals)} %"


def capitalised(text: str) -> str:
    """The text with its first letter capitalised and the rest unchanged: KL stays KL."""
    return text[0].upper() + text[1:]


def uncapitalised(text: str) -> str:
    """The text with its first letter in lower case and the rest unchanged, for the middle of a sentence.

    A name that is written with several capitals or with a digit, such as TUPE's or T5, stays as it is.
    """
    first = text.partition(" ")[0]
    is_name = any(letter.isupper() or letter.isdigit() for letter in first[1:])
    return text if is_name else text[:1].lower() + text[1:]


def span(values: Iterable[float], decimals: int = 0) -> str:
    """The least and the greatest of some numbers: "3", or "3 to 5"; "no" where there is none."""
    numbers = [f"{value:.{decimals}f}" for value in sorted(v for v in values if v == v)]
    return "no" if not numbers else numbers[0] if numbers[0] == numbers[-1] else f"{numbers[0]} to {numbers[-1]}"


def significant(value: float, digits: int = 3) -> str:
    """Three significant digits, a true minus sign."""
    if value and (abs(value) < 1e-3 or abs(value) >= 1e5):
        return f"{value:.1e}".replace("-", "−")
    return f"{value:,.{digits}g}".replace("-", "−") if abs(value) < 1000 else f"{value:,.0f}".replace("-", "−")


def unbroken(text: str) -> str:
    """The text with no-break spaces between numbers and their units, so that no line ends there.

    >>> unbroken("95 % of 3 nats in 2 lines")
    '95\\xa0% of 3\\xa0nats in 2 lines'
    """
    return BEFORE_UNIT.sub("\u00a0", text)


def power_of_ten(value: float) -> str:
    """The power of ten that is nearest to a value.

    >>> power_of_ten(1e-14)
    '10⁻¹⁴'
    """
    return "10" + str(round(math.log10(value))).translate(SUPERSCRIPT)


def at_most(value: float) -> str:
    """The least number of one digit that an error does not exceed, as a reader says it; below a millionth, a power.

    >>> at_most(0.0098)
    '0.01'
    >>> at_most(8e-6)
    '0.000008'
    >>> at_most(3e-10)
    '10⁻⁹'
    """
    if value <= 0:
        return "0"
    exponent = math.floor(math.log10(value))
    digit = math.ceil(round(value / 10.0**exponent, 9))
    if exponent < -6 or digit > 9:
        digit, exponent = 1, exponent + (digit > 1)
    if exponent < -6:
        return f"10{str(exponent).translate(SUPERSCRIPT)}"
    return f"{digit * 10.0**exponent:.{max(0, -exponent)}f}"


def interval_text(low: float | None, high: float | None, form: str = ".2f") -> str:
    """(95 % interval a to b), or nothing where there is none."""
    if low is None or high is None or low != low or high != high:
        return ""
    return f" (95 % interval {low:{form}} to {high:{form}})".replace("-", "−")


def with_interval(value: float, low: float | None, high: float | None) -> str:
    """Three significant digits of a value, and the ends of its interval to the same decimal place.

    >>> with_interval(-0.0015, -0.0034, 0.000487)
    '−0.0015 (95 % interval −0.0034 to 0.0005)'
    >>> with_interval(0.3003, 0.288, 0.312)
    '0.300 (95 % interval 0.288 to 0.312)'
    """
    written = significant(value)
    decimals = len(written.partition(".")[2])
    hidden = low is not None and high is not None and low < high and f"{low:.{decimals}f}" == f"{high:.{decimals}f}"
    if hidden and "e" not in written and 0 < abs(value) < 100:  # Zeros at the end, which `significant` leaves out.
        decimals = max(decimals, 2 - math.floor(math.log10(abs(value))))
        written = f"{value:.{decimals}f}".replace("-", "−")
    return f"{written}{interval_text(low, high, '.1e' if 'e' in written else f',.{decimals}f')}"


def consecutive(items: Iterable[T], follows: Callable[[T, T], bool]) -> list[list[T]]:
    """Items in their order, those in one list of which each follows the one before it.

    >>> consecutive([0, 1, 2, 5], lambda before, after: after == before + 1)
    [[0, 1, 2], [5]]
    """
    found: list[list[T]] = []
    for item in items:
        if found and follows(found[-1][-1], item):
            found[-1].append(item)
        else:
            found.append([item])
    return found


def join_names(names: Iterable[str]) -> str:
    """a, b and c; with semicolons where a name has a comma."""
    names = list(names)
    if any(", " in name for name in names):
        return "; ".join(names)
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "none"


def plural(count: int, noun: str) -> str:
    """1 seed, 2 seeds; 2 pairs of tables."""
    head, separator, rest = noun.partition(" of ")
    return f"{count:,} {head}{'' if count == 1 else 's'}{separator}{rest}"


def sentences(*parts: str) -> str:
    """The parts that say something, as one paragraph."""
    return " ".join(part for part in parts if part)


def first_sentence(text: str) -> str:
    """A text's first sentence without its full stop.

    >>> first_sentence("It is 0.5 long. Nobody knows why.")
    'It is 0.5 long'
    """
    return SENTENCE_END.split(text, maxsplit=1)[0].removesuffix(".")


def ranges(numbers: Iterable[int]) -> str:
    """Whole numbers in order, neighbours joined.

    >>> ranges([0, 2, 3, 4, 7])
    '0, 2 to 4 and 7'
    """
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return join_names(f"{run[0]} to {run[-1]}" if len(run) > 2 else " and ".join(map(str, run)) for run in runs)
