"""Intervals over dev examples: what another dev set of the same size might have said of the same trained models."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from analysis.statistics.seeds import Within

NAN = float("nan")
NOT_COVERED = "over dev examples only: the spread over seeds is not in it"


@dataclass(frozen=True)
class ExamplesInterval:
    """Variant less baseline, and where that would fall on resampled dev sets; in the metric's unit."""

    difference: float
    """The difference on the whole dev set if that was given, else its mean over resamples."""
    low: float
    high: float
    resamples: int
    """Resamples used."""
    undefined: int
    """Resamples left out since the metric is undefined on them for some run."""
    seeds: tuple[Hashable, ...]
    """Pre-training seeds that both sides have; only they are used."""
    dropped: tuple[Hashable, ...]
    """Seeds that only one side has."""
    note: str


def examples_interval(
    variant: Mapping[Hashable, ArrayLike],
    baseline: Mapping[Hashable, ArrayLike],
    *,
    difference: float | None = None,
    within: Within = "mean",
    confidence: float = 0.95,
) -> ExamplesInterval:
    """Percentile interval of the difference of seed-averaged replicates (Efron and Tibshirani 1993, chapter 13).

    variant, baseline: pre-training seed -> replicates (resample,) or (fine-tuning, resample), of the same
    resamples of the dev examples for every run, so that what is easy or hard in a resample cancels.
    difference: the same on the whole dev set.
    Holds the trained models fixed: it says nothing about other seeds, so it complements the interval
    over seeds and never replaces it. Of 200 resamples each end is itself uncertain by about 0.2
    of the standard deviation of the difference. Too few for the tail (fewer than 40 at 95 %): no interval.
    """
    seeds = tuple(seed for seed in variant if seed in baseline)
    dropped = tuple(s for a, b in ((variant, baseline), (baseline, variant)) for s in a if s not in b)
    known = NAN if difference is None else difference
    if not seeds:
        return ExamplesInterval(known, NAN, NAN, 0, 0, (), dropped, "no seed that both sides have")
    sides = [np.stack([_seed_replicates(side[seed], within) for seed in seeds]).mean(0) for side in (variant, baseline)]
    differences = sides[0] - sides[1]
    finite = differences[np.isfinite(differences)]
    center = known if difference is not None else float(finite.mean()) if len(finite) else NAN
    minimum = int(np.ceil(2 / (1 - confidence) - 1e-9))
    bounds = [NAN, NAN]
    note = NOT_COVERED
    if len(finite) < minimum:
        note = f"{len(finite)} resamples, fewer than the {minimum} that the tail needs: no interval"
    else:
        bounds = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return ExamplesInterval(
        center, bounds[0], bounds[1], len(finite), len(differences) - len(finite), seeds, dropped, note
    )


def _seed_replicates(replicates: ArrayLike, within: Within) -> ndarray:
    """(resample,) of one pre-training seed. Undefined in any of its runs is undefined."""
    x = np.asarray(replicates, dtype=float)
    if x.ndim not in (1, 2) or not x.size:
        raise ValueError(f"Replicates of shape {x.shape}; expected (resample,) or (fine-tuning, resample), not empty.")
    if x.ndim == 1:
        return x
    return np.median(x, axis=0) if within == "median" else x.mean(0)
