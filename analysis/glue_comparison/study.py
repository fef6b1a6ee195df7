"""Our own fine-tunings of one preset, analysed: chosen rates, averages, differences to a baseline, verdicts.

Everything is in points. Statistics are those of analysis.statistics; this arranges what goes in and what comes out.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd

from analysis import statistics
from analysis.core import frames
from analysis.core.errors import LinkError
from analysis.glue_comparison.results import Replicates, Results
from analysis.statistics import Runs
from analysis.statistics.averages import NOT_LEARNT
from analysis.statistics.equivalence import NOT_RESOLVED

AVERAGE = "average"
PROTOCOLS = {"mean": "Mean over seeds", "median": "Median, as TUPE"}
MARGINS = {"0.5": "0.5", "1": "1", "2": "2"}
"""Least differences that would matter, in points, to choose from before looking."""
CONFIDENCE, ALPHA, POWER = 0.95, 0.05, 0.8
NAN = float("nan")


@dataclass(frozen=True, kw_only=True, eq=False)
class Study:
    """One preset under one protocol, against one baseline.

    without: GLUE tasks left out of averages. including: tasks that no variant learnt and that are averaged all the
    same. margin: the least difference that matters, in points.
    """

    results: Results
    baseline: str
    protocol: Literal["mean", "median"]
    without: tuple[str, ...]
    including: tuple[str, ...]
    margin: float
    learnt: Mapping[tuple[str, str], str] = field(init=False)
    """(variant, task) -> 'learnt', 'not learnt' or 'not known'."""
    averages: Mapping[str, statistics.Average] = field(init=False)
    """Every variant's average over the kept tasks, if it has all of them."""
    cells: pd.DataFrame = field(init=False)
    """A row per variant and task, and one for its average: the runs summarised under the protocol."""
    contrasts: pd.DataFrame = field(init=False)
    """A row per variant and task, and one for the average: variant less baseline.

    p-values of tasks are corrected over the tasks of their variant, those of averages over the variants.
    """

    def __post_init__(self) -> None:
        learnt = {
            (variant, task): statistics.learnt(runs, self.results.majority.get(task), within=self.protocol).status
            for variant, by_task in self.scores.items()
            for task, runs in by_task.items()
        }
        object.__setattr__(self, "learnt", learnt)
        kept, missing = self.averaged_tasks, self.missing_scores
        complete = {
            variant: {task: self.scores[variant][task] for task in kept}
            for variant in self.results.variants
            if variant not in missing
        }
        object.__setattr__(self, "averages", statistics.averages(complete, within=self.protocol) if kept else {})
        object.__setattr__(self, "cells", self._cells())
        object.__setattr__(self, "contrasts", self._contrasts())

    @classmethod
    def create(
        cls,
        results: Results,
        *,
        baseline: str,
        protocol: str,
        without: tuple[str, ...],
        including: tuple[str, ...],
        margin: str,
    ) -> "Study":
        """A study from the values of a link. Raises LinkError for invalid ones."""
        known = results.variants
        if protocol not in PROTOCOLS:
            raise LinkError(f"There is no protocol {protocol!r}; there are: {', '.join(PROTOCOLS)}.")
        if margin not in MARGINS:
            raise LinkError(f"The margin is {margin!r}; expected one of: {', '.join(MARGINS)} (points).")
        if known and baseline not in known:
            if baseline not in ("", "bert_a"):
                raise LinkError(f"The preset {results.preset} has no variant {baseline!r}; it has: {', '.join(known)}.")
            baseline = known[0]
        return cls(
            results=results,
            baseline=baseline,
            protocol="median" if protocol == "median" else "mean",
            without=without,
            including=including,
            margin=float(margin),
        )

    def __bool__(self) -> bool:
        """True if the study holds any results."""
        return bool(self.results.scores)

    @property
    def name(self) -> str:
        """The baseline's title."""
        return self.results.titles.get(self.baseline, self.baseline)

    @property
    def glue(self) -> list[str]:
        """GLUE tasks with a score."""
        return list(self.results.tasks.index[self.results.tasks.glue.astype(bool)])

    @property
    def tasks(self) -> list[str]:
        """All tasks with a score, GLUE first."""
        return list(self.results.tasks.index)

    def title(self, task: str) -> str:
        """A task's name on screen."""
        return "Average" if task == AVERAGE else str(self.results.tasks.title.get(task, task))

    def best_without_encoder(self, task: str) -> tuple[str, float] | None:
        """The baseline without an encoder that scores best on a task, and its points; None where none was measured."""
        scores = {name: values[task] for name, values in self.results.without_encoder.items() if task in values}
        return max(scores.items(), key=lambda item: item[1]) if scores else None

    # ---- Scores ----

    @property
    def choices(self) -> Mapping[tuple[str, str], statistics.Choice]:
        """The learning rate of every variant and task."""
        return self.results.choices

    @property
    def scores(self) -> statistics.Scores:
        """variant -> task -> pre-training seed -> fine-tunings, at the chosen rates."""
        return self.results.scores

    @property
    def not_learnt(self) -> list[str]:
        """GLUE tasks at majority level for every variant that has them."""
        return [
            task
            for task in self.glue
            if all(status == NOT_LEARNT for (_, t), status in self.learnt.items() if t == task)
        ]

    @property
    def averaged_tasks(self) -> list[str]:
        """GLUE tasks in the average."""
        excluded = {*self.without, *(set(self.not_learnt) - set(self.including))}
        return [task for task in self.glue if task not in excluded]

    @property
    def missing_scores(self) -> dict[str, list[str]]:
        """Variants without an average, and the kept tasks that they have no score of."""
        kept = self.averaged_tasks
        missing = {v: [task for task in kept if task not in self.scores[v]] for v in self.results.variants}
        return {variant: tasks for variant, tasks in missing.items() if tasks}

    def _runs(self, variant: str, task: str) -> Runs | None:
        if task != AVERAGE:
            return self.scores[variant].get(task)
        return self.averages[variant].per_seed if variant in self.averages else None

    def interval(self, variant: str, task: str) -> statistics.MeanInterval | None:
        """The mean over pre-training seeds with its t interval; None where the variant has no score of the task."""
        runs = self._runs(variant, task) if variant in self.scores else None
        return None if runs is None else statistics.mean_interval(runs, within=self.protocol, confidence=CONFIDENCE)

    def _median(self, variant: str, task: str) -> float:
        tasks = self.averaged_tasks if task == AVERAGE else [task]
        return float(np.mean([statistics.summary(self.scores[variant][name]).median for name in tasks]))

    def _cells(self) -> pd.DataFrame:
        rows = []
        sizes = {task: int(n) for task, n in self.results.tasks.train_examples.dropna().items()}
        for variant in self.results.variants:
            for task in (AVERAGE, *self.tasks):
                runs = self._runs(variant, task)
                if runs is None:
                    continue
                interval = statistics.mean_interval(runs, within=self.protocol, confidence=CONFIDENCE)
                choice = self.choices.get((variant, task))
                rows.append(
                    {
                        "variant": variant,
                        "title": self.results.titles[variant],
                        "task": task,
                        "task_title": self.title(task),
                        "value": interval.mean if self.protocol == "mean" else self._median(variant, task),
                        "low": interval.low,
                        "high": interval.high,
                        "seeds": interval.n,
                        "runs": sum(np.size(values) for values in runs.values()) if choice else NAN,
                        "sd_seeds": interval.sd,
                        "sd_finetuning": interval.finetuning_sd if choice else NAN,
                        "learning_rate": choice.learning_rate if choice else NAN,
                        "rates_tried": len(choice.medians) if choice else NAN,
                        "majority": self.results.majority.get(task, NAN) if choice else self.majority_average,
                        "learnt": self.learnt.get((variant, task), ""),
                        "train_examples": sizes.get(task, NAN),
                        "data": (self.results.tasks.partial.get(task) or "official") if choice else "",
                        "note": interval.note,
                    }
                )
        return pd.DataFrame(rows)

    @property
    def majority_average(self) -> float:
        """The majority level of the average, where that of every kept task is known."""
        levels = [self.results.majority.get(task, NAN) for task in self.averaged_tasks]
        return float(np.mean(levels)) if levels else NAN

    @property
    def order(self) -> list[str]:
        """Variants, the best average first; those without one last."""
        values = self.values.get(AVERAGE, {})
        return sorted(self.results.variants, key=lambda v: -values.get(v, -np.inf))

    @property
    def values(self) -> dict[str, dict[str, float]]:
        """Task, or the average -> variant -> value."""
        values: dict[str, dict[str, float]] = {}
        for row in frames.rows(self.cells):
            values.setdefault(row.task, {})[row.variant] = row.value
        return values

    # ---- Differences ----

    def _contrasts(self) -> pd.DataFrame:
        differences = {
            (variant, task): statistics.difference(runs, baseline_runs, within=self.protocol, confidence=CONFIDENCE)
            for variant in self.results.variants
            if variant != self.baseline
            for task in (AVERAGE, *self.tasks)
            if (runs := self._runs(variant, task)) is not None
            and (baseline_runs := self._runs(self.baseline, task)) is not None
        }
        corrected: dict[tuple[str, str], tuple[float, int]] = {}
        families: dict[str, list[tuple[str, str]]] = {}
        for variant, task in differences:
            families.setdefault(AVERAGE if task == AVERAGE else variant, []).append((variant, task))
        for keys in families.values():
            correction = statistics.holm([differences[key].p for key in keys], ALPHA)
            corrected |= {key: (p, correction.tests) for key, p in zip(keys, correction.adjusted, strict=True)}
        values = self.values
        return pd.DataFrame(
            [self._contrast(*key, differences[key], *corrected[key], values[key[1]]) for key in differences]
        )

    def _contrast(
        self,
        variant: str,
        task: str,
        result: statistics.Difference,
        p: float,
        tests: int,
        values: Mapping[str, float],
    ) -> dict[str, object]:
        test = statistics.equivalence(result, self.margin, alpha=ALPHA, p=p)
        smallest = statistics.smallest_detectable(result.sd, result.n, ALPHA, POWER)
        tie = statistics.tie(result.mean, smallest)
        # Of means, over the seeds that both have; of medians, as TUPE compares them, over all runs of both.
        value = result.mean
        if self.protocol == "median":
            value = values[variant] - values[self.baseline]
        unresolved = test.verdict == NOT_RESOLVED
        return {
            "variant": variant,
            "title": self.results.titles[variant],
            "task": task,
            "task_title": self.title(task),
            "baseline": self.baseline,
            "difference": value,
            "low": result.low,
            "high": result.high,
            "seeds": result.n,
            "sd": result.sd,
            "p": result.p,
            "p_corrected": p,
            "tests": tests,
            "verdict": ("no interval" if np.isnan(result.p) else test.verdict) if unresolved else test.verdict,
            "within_margin": test.within_margin,
            "tie": unresolved and (tie.tied or (result.n > 0 and result.mean == 0)),
            "smallest_detectable": smallest,
            "note": "; ".join(filter(None, (result.note, tie.sentence if unresolved and tie.tied else ""))),
        }

    # ---- Over dev examples, and wins ----

    def _seed_replicates(self, replicates: Replicates, variant: str, task: str) -> dict[Hashable, np.ndarray]:
        if task != AVERAGE:
            return replicates.get((variant, task), {})
        parts = [replicates.get((variant, kept), {}) for kept in self.averaged_tasks]
        seeds: set[Hashable] = set.intersection(*(set(part) for part in parts)) if parts else set()
        center = np.median if self.protocol == "median" else np.mean
        averages: dict[Hashable, np.ndarray] = {}
        for seed in sorted(seeds, key=str):
            task_values = [center(part[seed], axis=0) for part in parts]
            # Each task has its own dev set, so which resample of one meets which of another does not matter.
            shortest = min(map(len, task_values))
            averages[seed] = np.mean([values[:shortest] for values in task_values], axis=0)
        return averages

    @property
    def comparisons(self) -> pd.DataFrame:
        """The contrasts with intervals over dev examples and, for averages, the probability of improvement."""
        rows = self.contrasts
        if rows.empty:
            return rows
        replicates = self.results.replicates({key: choice.learning_rate for key, choice in self.choices.items()})
        spans, wins = [], []
        for row in frames.rows(rows):
            span = statistics.examples_interval(
                self._seed_replicates(replicates, row.variant, row.task),
                self._seed_replicates(replicates, self.baseline, row.task),
                within=self.protocol,
            )
            spans.append((span.low, span.high, span.resamples))
            wins.append(self._probability(row.variant) if row.task == AVERAGE else NAN)
        low, high, resamples = zip(*spans, strict=True)
        return rows.assign(examples_low=low, examples_high=high, resamples=resamples, probability_better=wins)

    def _probability(self, variant: str) -> float:
        sides: list[dict[Hashable, Runs]] = [
            {task: self.scores[side][task] for task in self.averaged_tasks} for side in (variant, self.baseline)
        ]
        return statistics.improvement(*sides, within=self.protocol, resamples=200).probability
