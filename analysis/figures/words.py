"""Numbers as they are printed on screen."""

from collections.abc import Iterable

UNDEFINED = "undefined"


def signed(value: float, decimals: int = 2) -> str:
    """A number with its sign, as it is printed: a true minus, never -0.00; "undefined" where it is no number."""
    if value != value:
        return UNDEFINED
    rounded = round(value, decimals) + 0.0
    return f"{rounded:+.{decimals}f}".replace("-", "−")


def number(value: float, decimals: int = 2) -> str:
    """A number as it is printed: a true minus, never -0.00."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")


def percent(fraction: float, decimals: int = 0) -> str:
    """A fraction as a percentage, with a true minus: 38 %."""
    return f"{100 * fraction:.{decimals}f} %".replace("-", "−")


def signed_percent(fraction: float, decimals: int = 0) -> str:
    """A fraction as a percentage with its sign: +5 %."""
    return f"{signed(100 * fraction, decimals)} %"


def begun(text: str) -> str:
    """With a capital first, and the rest as it is: KL stays KL."""
    return text[0].upper() + text[1:]


def span(values: Iterable[float], decimals: int = 0) -> str:
    """The least and the greatest of some numbers: "3", or "3 to 5"; "no" where there is none."""
    said = [f"{value:.{decimals}f}" for value in sorted(v for v in values if v == v)]
    return "no" if not said else said[0] if said[0] == said[-1] else f"{said[0]} to {said[-1]}"
