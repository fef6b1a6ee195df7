"""Two variants of our own held against each other in the average over GLUE tasks, in points."""

import math
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis import statistics
from analysis.claims.base import Rows
from analysis.claims.trainings import BETTER, FEW, FEWEST, OPEN, OURS, SAME, WORSE
from analysis.glue_comparison.results import POINTS, Results
from analysis.glue_comparison.study import AVERAGE, Study

MARGIN = "1"
"""Points of the average: the least difference that matters, as on the GLUE page."""
MAJORITY = f"SELECT preset, task, value FROM majority_scores WHERE {OURS} ORDER BY preset, task"


def tunings(*variants: str) -> str:
    """SQL: every fine-tuning of our own of these variants."""
    names = ", ".join(f"'{name}'" for name in variants)
    return (
        "SELECT f.*, t.title AS task_title, t.glue FROM fine_tunings f JOIN tasks t USING (task) "
        f"WHERE variant IN ({names}) AND {OURS} ORDER BY variant, task, seed, finetune_seed, run_id"
    )


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A variant less the baseline in points; above 0 is better. tasks: those that are averaged."""

    value: float
    low: float
    high: float
    seeds: int
    verdict: str
    within_margin: bool
    tasks: tuple[str, ...]
    not_learnt: tuple[str, ...]

    @property
    def standing(self) -> str:
        """As of a pre-training; see `Compared.standing`."""
        if self.seeds < FEWEST:
            return FEW
        if self.within_margin:
            return SAME
        if self.verdict == "different":
            return BETTER if self.value > 0 else WORSE
        return OPEN


def contrast(
    rows: Rows,
    majority: Rows,
    variant: str,
    baseline: str,
    *,
    runs: frozenset[str],
    only: tuple[str, ...] = (),
) -> Contrast | None:
    """The difference of averages over the tasks that both have; None where they share none.

    runs: the pre-trainings whose fine-tunings count. only: of these tasks; (): of all.
    """
    kept = [
        dict(row)
        for row in rows
        if row["variant"] in (variant, baseline) and row["pretraining"] in runs and (not only or row["task"] in only)
    ]
    presets = sorted({row["preset"] for row in kept}, key=lambda name: (name != "cpu", str(name)))
    for preset in presets:
        result = _of(preset, [row for row in kept if row["preset"] == preset], majority, variant, baseline)
        if result is not None:
            return result
    return None


def _of(preset: str, rows: list[dict[str, Any]], majority: Rows, variant: str, baseline: str) -> Contrast | None:
    tasks = {
        name: {row["task"] for row in rows if row["variant"] == name and row["glue"]} for name in (variant, baseline)
    }
    shared = tasks[variant] & tasks[baseline]
    kept = [
        {**row, "value": math.nan if row["value"] is None else POINTS * row["value"]}
        for row in rows
        if row["task"] in shared
    ]
    if not kept:
        return None
    choices = statistics.choose_rates(kept)
    about: Any = pd.DataFrame(kept).groupby("task")[["task_title", "glue"]].first()
    levels = {row["task"]: POINTS * row["value"] for row in majority if row["preset"] == preset}
    results = Results(
        preset=preset,
        choices=choices,
        scores=statistics.chosen(kept, choices),
        titles={baseline: baseline, variant: variant},
        tasks=about.assign(title=about.task_title, partial="", train_examples=math.nan),
        majority=levels,
        without_encoder={},
        pretrained=None,
        left_out=0,
        runs=None,
    )
    study = Study.of(results, baseline=baseline, protocol="mean", without=(), including=(), margin=MARGIN)
    frame = study.contrasts
    frame = frame[frame.task == AVERAGE] if len(frame) else frame
    if frame.empty:
        return None
    row = frame.iloc[0]
    return Contrast(
        value=float(row.difference),
        low=float(row.low),
        high=float(row.high),
        seeds=int(row.seeds),
        verdict=str(row.verdict),
        within_margin=bool(row.within_margin),
        tasks=tuple(study.averaged_tasks),
        not_learnt=tuple(study.not_learnt),
    )
