"""From fine-tuning results to one set of runs a variant and task: which learning rate counts."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

OPTIMISM = "the best rate was chosen on the dev set it is reported on: optimistic, the more so the more rates"


@dataclass(frozen=True)
class Row:
    """One metric of one fine-tuning; higher is better. A value that is not finite is a run that failed."""

    variant: str
    task: str
    metric: str
    seed: int
    finetune_seed: int
    learning_rate: float
    value: float


@dataclass(frozen=True)
class Choice:
    """The learning rate of a variant on a task."""

    variant: str
    task: str
    metric: str
    learning_rate: float
    medians: dict[float, float]
    """Of every rate tried, over all its runs; NaN if none has a value."""
    runs: dict[float, int]
    """Runs with a value, of every rate tried."""
    missing: dict[float, int]
    """Runs without a value, of every rate tried."""
    note: str


@dataclass(frozen=True)
class Rate:
    """What a variant's fine-tunings on a task give at one learning rate."""

    variant: str
    task: str
    metric: str
    learning_rate: float
    median: float
    """Over all runs with a value, of every seed; NaN if none has."""
    runs: int
    """With a value."""
    missing: int
    """Without one."""


Scores = Mapping[str, Mapping[str, Mapping[Hashable, list[float]]]]
"""variant -> task -> pre-training seed -> values of its fine-tunings."""


def choose_rates(
    rows: Iterable[Row | Mapping[str, Any]], *, rate: float | None = None
) -> dict[tuple[str, str], Choice]:
    """The learning rate of every (variant, task).

    By default the one with the best median over all runs, of every pre-training and fine-tuning seed: the
    protocol of TUPE (Ke, He and Liu 2021, appendix on fine-tuning: five runs a configuration, the median
    on the dev set is its performance, the best configuration is reported). Chosen and reported on the same dev
    set, it is optimistic; by how much depends on the noise and the number of rates, so that variants must have
    tried the same ones. Of equal medians the lowest rate. rate: that one for all, which is free of the
    optimism; (variant, task)s that never tried it are refused.
    """
    values: dict[tuple[str, str, str, float], list[float]] = {}
    for row in _rows(rows):
        values.setdefault((row.variant, row.task, row.metric, row.learning_rate), []).append(row.value)
    tried = []
    for key, results in values.items():
        finite = [value for value in results if np.isfinite(value)]
        median = float(np.median(finite)) if finite else float("nan")
        tried.append(Rate(*key, median=median, runs=len(finite), missing=len(results) - len(finite)))
    return choose(tried, rate=rate)


def choose(tried: Iterable[Rate], *, rate: float | None = None) -> dict[tuple[str, str], Choice]:
    """As `choose_rates`, where what each rate gives is known already."""
    by_task: dict[tuple[str, str], list[Rate]] = {}
    for rate_result in tried:
        by_task.setdefault((rate_result.variant, rate_result.task), []).append(rate_result)
    choices = {}
    for (variant, task), group in by_task.items():
        group.sort(key=lambda rate_result: rate_result.learning_rate)
        medians = {rate_result.learning_rate: rate_result.median for rate_result in group}
        runs = {rate_result.learning_rate: rate_result.runs for rate_result in group}
        missing = {rate_result.learning_rate: rate_result.missing for rate_result in group}
        if rate is None:
            best = max(medians, key=lambda key: (not np.isnan(medians[key]), np.nan_to_num(medians[key]), -key))
            notes = [OPTIMISM] if len(medians) > 1 else []
            if len(set(runs.values())) > 1:
                notes.append("rates have unequal numbers of runs")
            note = "; ".join(notes)
        elif rate in medians:
            best, note = rate, "one rate for all"
        else:
            raise ValueError(f"{variant} on {task} never tried the rate {rate:g}; it has {[*medians]}.")
        choices[variant, task] = Choice(variant, task, group[0].metric, best, medians, runs, missing, note)
    return choices


def chosen(rows: Iterable[Row | Mapping[str, Any]], choices: Mapping[tuple[str, str], Choice]) -> Scores:
    """The values at the chosen rates, nested as everything else in this package takes them."""
    scores: dict[str, dict[str, dict[Hashable, list[float]]]] = {}
    for row in _rows(rows):
        choice = choices.get((row.variant, row.task))
        if choice is not None and row.learning_rate == choice.learning_rate:
            scores.setdefault(row.variant, {}).setdefault(row.task, {}).setdefault(row.seed, []).append(row.value)
    return scores


def _rows(items: Iterable[Row | Mapping[str, Any]]) -> list[Row]:
    """As Rows, one metric a task, and no fine-tuning twice. Further keys of a mapping are ignored."""
    names = [field.name for field in fields(Row)]
    rows = [row if isinstance(row, Row) else Row(**{name: row[name] for name in names}) for row in items]
    metrics: dict[str, str] = {}
    seen = set()
    for row in rows:
        if metrics.setdefault(row.task, row.metric) != row.metric:
            raise ValueError(f"{row.task} has the metrics {metrics[row.task]} and {row.metric}; give its main one.")
        key = (row.variant, row.task, row.seed, row.finetune_seed, row.learning_rate)
        if key in seen:
            raise ValueError(f"{key} is listed twice; expected one value per fine-tuning.")
        seen.add(key)
    return rows
