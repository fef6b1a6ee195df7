"""Medians, means and averages over tasks of the chosen runs; and the tasks that were not learnt at all."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.statistics.paired import MeanInterval, mean_interval
from analysis.statistics.seeds import Runs, Within, per_seed

LEARNT, NOT_LEARNT, NOT_KNOWN = "learnt", "not learnt", "not known"


@dataclass(frozen=True)
class Summary:
    """One variant on one task, in the metric's unit."""

    median: float
    """Over all runs, of every pre-training and fine-tuning seed; NaN if there is none."""
    runs: int
    interval: MeanInterval
    """The interval of the mean over pre-training seeds."""


@dataclass(frozen=True)
class Learnt:
    """A comparison of a task's scores with the answer that never looks at the text; better ones mean it was learnt."""

    status: str
    """'learnt', 'not learnt' or 'not known'."""
    above: float
    """Mean less the level of that answer; low and high are its t interval."""
    low: float
    high: float
    note: str


@dataclass(frozen=True)
class Average:
    """A variant's average over tasks."""

    per_seed: dict[Hashable, float]
    """The average of each pre-training seed that has every task; goes into `difference` like any runs."""
    interval: MeanInterval


def summary(runs: Runs, *, within: Within = "mean", confidence: float = 0.95) -> Summary:
    """The median of all runs, and the mean over pre-training seeds with its t interval."""
    values = np.concatenate([np.atleast_1d(np.asarray(v, dtype=float)) for v in runs.values()] or [np.empty(0)])
    finite = values[np.isfinite(values)]
    median = float(np.median(finite)) if len(finite) else float("nan")
    return Summary(median, len(finite), mean_interval(runs, within=within, confidence=confidence))


def learnt(runs: Runs, majority: float | None, *, within: Within = "mean", confidence: float = 0.95) -> Learnt:
    """Judges if a task was learnt: it was not where the t interval of (value - majority) over pre-training seeds
    includes 0, or lies below.

    majority: the score of the most frequent answer, in the metric's unit (0 for a correlation); None: not known. Seeds
    without spread have no interval: at or below the level they are not learnt, above it that is not known.
    """
    if majority is None:
        return Learnt(NOT_KNOWN, float("nan"), float("nan"), float("nan"), "no level given")
    result = mean_interval(runs, within=within, confidence=confidence)
    above, low, high = result.mean - majority, result.low - majority, result.high - majority
    if not result.note:
        return Learnt(LEARNT if low > 0 else NOT_LEARNT, above, low, high, "")
    alike_and_low = result.n > 1 and above <= 1e-12 * max(abs(majority), abs(result.mean))
    return Learnt(NOT_LEARNT if alike_and_low else NOT_KNOWN, above, low, high, result.note)


def averages(scores: Mapping[str, Mapping[str, Runs]], *, within: Within = "mean") -> dict[str, Average]:
    """Every variant's average over the same tasks, each task weighing the same.

    scores: variant -> task -> runs. Tasks that a variant lacks altogether are refused: averages over different
    tasks cannot be compared. The average is taken within each pre-training seed that has every task, and its interval
    is over those: tasks share their checkpoints, so their errors do not average out as those of independent tasks
    would.
    """
    tasks = list(dict.fromkeys(task for by_task in scores.values() for task in by_task))
    lacking = [f"{variant}: {task}" for variant, by_task in scores.items() for task in tasks if task not in by_task]
    if lacking:
        raise ValueError(f"Averages need every task of every variant; missing are {', '.join(lacking)}.")
    return {variant: _average(list(by_task.values()), within) for variant, by_task in scores.items()}


def _average(runs: Sequence[Runs], within: Within) -> Average:
    values = [per_seed(one_task, within).values for one_task in runs]
    complete = [seed for seed in values[0] if all(seed in by_seed for by_seed in values)]
    means = {seed: float(np.mean([by_seed[seed] for by_seed in values])) for seed in complete}
    return Average(per_seed=means, interval=mean_interval(means))
