"""Many tasks at once: p-values corrected so that one false find in the whole family stays rare."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Corrected:
    """p-values after correction, in the order they were given."""

    adjusted: tuple[float, ...]
    rejected: tuple[bool, ...]
    tests: int
    """p-values that were corrected for; the others are NaN, stay so, and are never rejected."""


def holm(p: Sequence[float], alpha: float = 0.05) -> Corrected:
    """Holm's step-down correction (Holm 1979): holds the family-wise error at alpha, whatever the dependence.

    The i-th smallest of m (from 0) is multiplied by m - i; none falls below one before it, none exceeds 1.
    A NaN is a test that could not be made (one seed): it does not count towards m, since it could never
    have rejected. Rejected where adjusted <= alpha.
    """
    values = np.asarray(p, dtype=float)
    tested = np.flatnonzero(~np.isnan(values))
    if values.ndim != 1 or (values[tested] < 0).any() or (values[tested] > 1).any():
        raise ValueError(f"p-values {p}; expected a flat sequence of numbers from 0 to 1, or NaN.")
    order = tested[np.argsort(values[tested], kind="stable")]
    tests = len(order)
    adjusted = np.full(len(values), np.nan)
    adjusted[order] = np.minimum(np.maximum.accumulate(values[order] * np.arange(tests, 0, -1)), 1)
    rejected = tuple(bool(value <= alpha) for value in adjusted)
    return Corrected(tuple(adjusted.tolist()), rejected, tests)
