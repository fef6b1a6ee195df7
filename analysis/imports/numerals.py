"""Numbers as texts, by one strict grammar for every reader: a sign, ASCII digits with a point, an exponent.

Python's float() takes more: underscores, digits of other scripts, spaces of all kinds.
"""

import math
import re
from typing import SupportsFloat

NUMERAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)
"""As Python, JSON, W&B and Trackio write what is no finite number."""


def parsed(text: str) -> float | None:
    """The number that a text is, infinite and NaN among them; None where it is none."""
    bare = text.strip(" \t\r\n")
    return float(bare) if NUMERAL.fullmatch(bare) or NOT_FINITE.fullmatch(bare) else None


def number(cell: object) -> object:
    """A cell of a table as a number if it is one, else unchanged."""
    if isinstance(cell, str):
        value = parsed(cell)
        return cell if value is None else value
    return cell


def as_float(value: object) -> float:
    """A value as a number; NaN if it is none."""
    if isinstance(value, bytes):
        value = value.decode("ascii", "replace")
    if isinstance(value, str):
        value = parsed(value)
    if isinstance(value, float):  # asked before the protocol, which takes twenty times as long
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | SupportsFloat):
        return math.nan
    try:
        return float(value)
    except (ValueError, OverflowError):
        return math.nan


def ends_a_curve(value: object) -> bool:
    """True of a value that is NaN or infinite, as a diverged training logs it; False of what is no number at all."""
    if isinstance(value, str):
        return NOT_FINITE.fullmatch(value.strip(" \t\r\n")) is not None
    return isinstance(value, SupportsFloat) and not isinstance(value, int) and not math.isfinite(as_float(value))
