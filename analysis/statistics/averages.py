"""Medians, means and averages over tasks of the chosen runs; and the tasks that were not learnt at all."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from analysis.statistics.paired import MeanInterval, mean_interval
from analysis.statistics.seeds import Runs, Within, per_seed

LEARNT, NOT_LEARNT, NOT_KNOWN = "learnt", "not learnt", "not known"
LeaveOut = Literal["none learnt", "some not learnt", "no task"]


@dataclass(frozen=True)
class Summary:
    """One variant on one task, in the metric's unit."""

    median: float
    """Over all runs, of every pre-training and fine-tuning seed; NaN if there is none."""
    runs: int
    interval: MeanInterval
    """Of the mean over pre-training seeds."""


@dataclass(frozen=True)
class Learnt:
    """Whether a task was learnt: better than the answer that never looks at the text."""

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
    """Of the pre-training seeds that have every task; goes into `difference` like any runs."""
    interval: MeanInterval
    tasks: tuple[str, ...]
    """That are in it."""
    without: tuple[str, ...]
    """Left out on request."""
    left_out: tuple[str, ...]
    """Left out as not learnt."""
    not_learnt: tuple[str, ...]
    """Not learnt by this variant, whether in it or not."""
    not_known: tuple[str, ...]
    """For which it cannot be said: no level given, or too few seeds."""
    dropped: tuple[Hashable, ...]
    """Seeds that lack one of the tasks."""


def summary(runs: Runs, *, within: Within = "mean", confidence: float = 0.95) -> Summary:
    """The median of all runs, and the mean over pre-training seeds with its t interval."""
    values = np.concatenate([np.atleast_1d(np.asarray(v, dtype=float)) for v in runs.values()] or [np.empty(0)])
    finite = values[np.isfinite(values)]
    median = float(np.median(finite)) if len(finite) else float("nan")
    return Summary(median, len(finite), mean_interval(runs, within=within, confidence=confidence))


def learnt(runs: Runs, majority: float | None, *, within: Within = "mean", confidence: float = 0.95) -> Learnt:
    """Not learnt where the t interval of (value - majority) over pre-training seeds includes 0, or lies below.

    majority: what the most frequent answer scores, in the metric's unit (0 for a correlation); None: not known.
    Seeds without spread have no interval: at or below the level they are not learnt, above it that is not known.
    """
    if majority is None:
        return Learnt(NOT_KNOWN, float("nan"), float("nan"), float("nan"), "no level given")
    result = mean_interval(runs, within=within, confidence=confidence)
    above, low, high = result.mean - majority, result.low - majority, result.high - majority
    if not result.note:
        return Learnt(LEARNT if low > 0 else NOT_LEARNT, above, low, high, "")
    alike_and_low = result.n > 1 and above <= 1e-12 * max(abs(majority), abs(result.mean))
    return Learnt(NOT_LEARNT if alike_and_low else NOT_KNOWN, above, low, high, result.note)


def averages(
    scores: Mapping[str, Mapping[str, Runs]],
    *,
    majority: Mapping[str, float] | None = None,
    without: Collection[str] = (),
    leave_out: LeaveOut = "none learnt",
    within: Within = "mean",
    confidence: float = 0.95,
) -> dict[str, Average]:
    """Every variant's average over the same tasks, each task weighing the same.

    scores: variant -> task -> runs. Tasks that a variant lacks altogether are refused: averages over different
    tasks cannot be compared. majority: task -> level, see `learnt`. without: tasks to leave out.
    leave_out: which tasks stay out, of the averages of all variants alike. 'none learnt': those that every variant
    has not learnt, which add noise and no information. 'some not learnt': those that any one variant has not
    learnt, which hides the failures of that variant. 'no task': none. 'Not known' keeps a task in.
    The average is taken within each pre-training seed, and its interval is over those: tasks share their
    checkpoints, so their errors do not average out as those of independent tasks would.
    """
    if leave_out not in ("none learnt", "some not learnt", "no task"):
        raise ValueError(f"leave_out is {leave_out!r}; expected 'none learnt', 'some not learnt' or 'no task'.")
    tasks = list(dict.fromkeys(task for by_task in scores.values() for task in by_task))
    lacking = [f"{variant}: {task}" for variant, by_task in scores.items() for task in tasks if task not in by_task]
    if lacking:
        raise ValueError(f"Averages need every task of every variant; missing are {', '.join(lacking)}.")
    unknown = [task for task in without if task not in tasks]
    if unknown:
        raise ValueError(f"Cannot leave out {', '.join(unknown)}; the tasks are {', '.join(tasks)}.")
    levels = majority or {}
    status = {
        variant: {
            task: learnt(runs, levels.get(task), within=within, confidence=confidence).status
            for task, runs in by_task.items()
        }
        for variant, by_task in scores.items()
    }
    rule = {"none learnt": all, "some not learnt": any, "no task": lambda result: False}[leave_out]
    left_out = tuple(
        t for t in tasks if t not in without and rule([by_task[t] == NOT_LEARNT for by_task in status.values()])
    )
    averaged = tuple(task for task in tasks if task not in without and task not in left_out)
    return {
        variant: _average(by_task, averaged, tuple(without), left_out, status[variant], within, confidence)
        for variant, by_task in scores.items()
    }


def _average(
    by_task: Mapping[str, Runs],
    tasks: tuple[str, ...],
    without: tuple[str, ...],
    left_out: tuple[str, ...],
    status: Mapping[str, str],
    within: Within,
    confidence: float,
) -> Average:
    values = {task: per_seed(by_task[task], within).values for task in tasks}
    seeds = dict.fromkeys(seed for by_seed in values.values() for seed in by_seed)
    averages = {
        seed: float(np.mean([by_name[seed] for by_name in values.values()]))
        for seed in seeds
        if all(seed in by_seed for by_seed in values.values())
    }
    return Average(
        per_seed=averages,
        interval=mean_interval(averages, confidence=confidence),
        tasks=tasks,
        without=without,
        left_out=left_out,
        not_learnt=tuple(task for task, word in status.items() if word == NOT_LEARNT),
        not_known=tuple(task for task, word in status.items() if word == NOT_KNOWN),
        dropped=tuple(seed for seed in seeds if seed not in averages),
    )
