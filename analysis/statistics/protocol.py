"""Chooses the learning rate that counts, and with it one set of runs for each variant and task."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

OPTIMISM = "the best rate was chosen on the dev set it is reported on: optimistic, the more so the more rates"


@dataclass(frozen=True)
class Choice:
    """The learning rate of a variant on a task."""

    variant: str
    task: str
    metric: str
    learning_rate: float
    medians: dict[float, float]
    """The median of every rate tried, over all its runs; NaN if none has a value."""
    runs: dict[float, int]
    """Runs with a value, of every rate tried."""
    missing: dict[float, int]
    """Runs without a value, of every rate tried."""
    note: str


@dataclass(frozen=True)
class Rate:
    """The results of a variant's fine-tunings on a task at one learning rate."""

    variant: str
    task: str
    metric: str
    learning_rate: float
    median: float
    """Over all runs with a value, of every seed; NaN if none has."""
    runs: int
    """The number of runs with a value."""
    missing: int
    """The number of runs without one."""


Scores = Mapping[str, Mapping[str, Mapping[Hashable, list[float]]]]
"""variant -> task -> pre-training seed -> values of its fine-tunings."""


def choose(tried: Iterable[Rate]) -> dict[tuple[str, str], Choice]:
    """The learning rate of every (variant, task): the one with the best median, of equal medians the lowest rate.

    That is the protocol of TUPE (Ke, He and Liu 2021, appendix on fine-tuning: five runs a configuration, the median
    on the dev set is its performance, the best configuration is reported). Chosen and reported on the same dev set, it
    is optimistic; by how much depends on the noise and the number of rates, so that variants must have tried the same.
    """
    by_task: dict[tuple[str, str], list[Rate]] = {}
    for rate in tried:
        by_task.setdefault((rate.variant, rate.task), []).append(rate)
    choices = {}
    for (variant, task), rates in by_task.items():
        rates.sort(key=lambda rate: rate.learning_rate)
        best = max(rates, key=lambda rate: -np.inf if np.isnan(rate.median) else rate.median)
        notes = [OPTIMISM] if len(rates) > 1 else []
        if len({rate.runs for rate in rates}) > 1:
            notes.append("rates have unequal numbers of runs")
        choices[variant, task] = Choice(
            variant=variant,
            task=task,
            metric=best.metric,
            learning_rate=best.learning_rate,
            medians={rate.learning_rate: rate.median for rate in rates},
            runs={rate.learning_rate: rate.runs for rate in rates},
            missing={rate.learning_rate: rate.missing for rate in rates},
            note="; ".join(notes),
        )
    return choices
