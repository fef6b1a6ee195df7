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
    """On the whole dev set if that was given, else the mean over resamples."""
    low: float
    high: float
    confidence: float
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
    Holds the trained models fixed: it says nothing of what another seed would have given, so it stands beside
    the interval over seeds and never in its place. Of 200 resamples each end is itself uncertain by about 0.2
    of the standard deviation of the difference. Too few for the tail (fewer than 40 at 95 %): no interval.
    """
    seeds = tuple(seed for seed in variant if seed in baseline)
    dropped = tuple(s for a, b in ((variant, baseline), (baseline, variant)) for s in a if s not in b)
    given = NAN if difference is None else difference
    if not seeds:
        return ExamplesInterval(given, NAN, NAN, confidence, 0, 0, (), dropped, "no seed that both sides have")
    sides = [np.stack([_one(side[seed], within) for seed in seeds]).mean(0) for side in (variant, baseline)]
    delta = sides[0] - sides[1]
    kept = delta[np.isfinite(delta)]
    centre = given if difference is not None else float(kept.mean()) if len(kept) else NAN
    least = int(np.ceil(2 / (1 - confidence) - 1e-9))
    ends = [NAN, NAN]
    note = NOT_COVERED
    if len(kept) < least:
        note = f"{len(kept)} resamples, fewer than the {least} that the tail needs: no interval"
    else:
        ends = np.quantile(kept, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist()
    return ExamplesInterval(
        centre, ends[0], ends[1], confidence, len(kept), len(delta) - len(kept), seeds, dropped, note
    )


def _one(replicates: ArrayLike, within: Within) -> ndarray:
    """(resample,) of one pre-training seed. Undefined in any of its runs is undefined."""
    x = np.asarray(replicates, dtype=float)
    if x.ndim not in (1, 2) or not x.size:
        raise ValueError(f"Replicates of shape {x.shape}; expected (resample,) or (fine-tuning, resample), not empty.")
    if x.ndim == 1:
        return x
    return np.median(x, axis=0) if within == "median" else x.mean(0)
