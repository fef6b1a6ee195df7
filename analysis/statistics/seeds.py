"""Seeds: fine-tunings are gathered within their pre-training seed, the unit that every interval counts.

Two fine-tunings of one checkpoint share all of pre-training, so they are not two samples of a variant: counting
them as such makes intervals too narrow. They are averaged first, and their own spread is kept beside, apart.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

import numpy as np
from numpy import ndarray

Runs = Mapping[Hashable, float | Sequence[float]]
"""Pre-training seed -> its value, or the values of its fine-tunings. Not finite (a run that failed): missing."""
Within = Literal["mean", "median"]
"""How the fine-tunings of one pre-training seed become one value; the median is what TUPE takes."""


@dataclass(frozen=True)
class PerSeed:
    """One value a pre-training seed."""

    values: dict[Hashable, float]
    runs: int
    """Finite values that went in."""
    missing: int
    """Values that were not finite; a seed with no other is not in `values`."""
    finetuning_sd: float
    """Spread of the fine-tunings of one checkpoint, pooled over seeds; NaN if no seed has two."""


class Gathered(dict[Hashable, list[float]]):
    """Runs that stay as they are, so that what `per_seed` makes of them is kept: many statistics ask for it."""

    def __init__(self, runs: Mapping[Hashable, list[float]]) -> None:
        super().__init__(runs)
        self.made: dict[Within, PerSeed] = {}


def per_seed(runs: Runs, within: Within = "mean") -> PerSeed:
    """The values of each pre-training seed made one."""
    if within not in ("mean", "median"):
        raise ValueError(f"within is {within!r}; expected 'mean' or 'median'.")
    if not isinstance(runs, Gathered):
        return _per_seed(runs, within)
    if within not in runs.made:
        runs.made[within] = _per_seed(runs, within)
    return runs.made[within]


def _per_seed(runs: Runs, within: Within) -> PerSeed:
    values: dict[Hashable, float] = {}
    count = missing = freedom = 0
    squares = 0.0
    for seed, given in runs.items():
        # A handful each, so Python's own statistics take a tenth of numpy's time.
        every = given if isinstance(given, list) else np.atleast_1d(np.asarray(given, dtype=float)).tolist()
        kept = [value for value in every if math.isfinite(value)]
        missing += len(every) - len(kept)
        count += len(kept)
        if kept:
            middle = fmean(kept)
            values[seed] = median(kept) if within == "median" else middle
            squares += sum((value - middle) ** 2 for value in kept)
            freedom += len(kept) - 1
    return PerSeed(values, count, missing, math.sqrt(squares / freedom) if freedom else math.nan)


def no_spread(values: ndarray, scale: float | None = None) -> bool:
    """Whether values (n,) are alike but for rounding, on a scale; theirs unless given."""
    size = float(np.abs(values).max(initial=0)) if scale is None else scale
    return bool(np.ptp(values) <= 1e-12 * size) if len(values) else True
