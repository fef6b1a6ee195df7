"""Seeds: fine-tunings are gathered within their pre-training seed, the unit that every interval counts.

Two fine-tunings of one checkpoint share all of pre-training, so they are not two samples of a variant: counting
them as such makes intervals too narrow. They are averaged first, and their spread is reported separately.
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
"""The average by which the fine-tunings of one pre-training seed become one value; TUPE takes the median."""


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


class CachedRuns(dict[Hashable, list[float]]):
    """Runs that do not change, so that `per_seed` of them is cached: many statistics use it."""

    def __init__(self, runs: Mapping[Hashable, list[float]]) -> None:
        super().__init__(runs)
        self.cache: dict[Within, PerSeed] = {}


def per_seed(runs: Runs, within: Within = "mean") -> PerSeed:
    """The values of each pre-training seed made one."""
    if within not in ("mean", "median"):
        raise ValueError(f"within is {within!r}; expected 'mean' or 'median'.")
    if not isinstance(runs, CachedRuns):
        return _per_seed(runs, within)
    if within not in runs.cache:
        runs.cache[within] = _per_seed(runs, within)
    return runs.cache[within]


def _per_seed(runs: Runs, within: Within) -> PerSeed:
    values: dict[Hashable, float] = {}
    count = missing = df = 0
    squares = 0.0
    for seed, entry in runs.items():
        # For so few values Python's statistics module takes a tenth of numpy's time.
        fine_tunings = entry if isinstance(entry, list) else np.atleast_1d(np.asarray(entry, dtype=float)).tolist()
        finite = [value for value in fine_tunings if math.isfinite(value)]
        missing += len(fine_tunings) - len(finite)
        count += len(finite)
        if finite:
            mean = fmean(finite)
            values[seed] = median(finite) if within == "median" else mean
            squares += sum((value - mean) ** 2 for value in finite)
            df += len(finite) - 1
    return PerSeed(values, count, missing, math.sqrt(squares / df) if df else math.nan)


def no_spread(values: ndarray, scale: float | None = None) -> bool:
    """True if values (n,) differ by rounding alone. scale: the size of the values, by default that of the largest."""
    size = float(np.abs(values).max(initial=0)) if scale is None else scale
    return bool(np.ptp(values) <= 1e-12 * size) if len(values) else True
