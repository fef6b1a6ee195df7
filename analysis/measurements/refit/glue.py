"""Refitted encoders fine-tuned on tasks of GLUE: one arm and seed on every task, at the rate that its pilots chose."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.core import frames
from analysis.core.errors import AddendError
from analysis.measurements.refit.rates import rates_of
from analysis.measurements.surgery.finetuned import FineTuningJob
from analysis.rules.refit_rules import JUDGED, PILOT
from analysis.rules.refitted_glue_rules import refitted_glue_rules

if TYPE_CHECKING:
    from analysis.ablation.glue.examples import TaskData

PRESETS = {JUDGED: "refitted", PILOT: "refitted-pilot"}
"""Purpose -> the preset that its scores are stored under."""
HELD_OUT_EVERY = 10
"""One of so many rows of train is held out in a pilot, which is scored on it."""

REFITS = """
SELECT f.arm, f.seed, arg_max(run_id, r.created) AS run_id FROM refits f JOIN runs r USING (run_id)
WHERE f.purpose = 'judged' GROUP BY f.arm, f.seed
"""
PILOTS = """
SELECT s.variant, s.learning_rate, s.task, s.metric, s.value, r.config
FROM scores s JOIN runs r USING (run_id) WHERE s.preset = 'refitted-pilot' ORDER BY r.created
"""


@dataclass(frozen=True, kw_only=True)
class RefittedGlueJob(FineTuningJob):
    """One refitted arm and seed on every task of its purpose. refit: the run that refitted it."""

    purpose: str
    learning_rate: float
    refit: str

    @property
    def preset(self) -> str:
        """The name that its scores are stored under, beside the arm's."""
        return PRESETS[self.purpose]

    @property
    def command(self) -> str:
        """The command that runs it."""
        return (
            f"python -m analysis finetune-refitted --glue DIR --purpose {self.purpose} --arms {self.arm} "
            f"--seeds {self.seed}"
        )

    @property
    def rules(self) -> Mapping[str, object]:
        """The part of its manifest that names the rules it is begun under."""
        return refitted_glue_rules().manifest()

    @property
    def tasks(self) -> Mapping[str, Mapping[str, Any]]:
        """Task -> the settings with which it is fine-tuned."""
        rules = refitted_glue_rules()
        settings = {**rules.settings, "learning_rate": self.learning_rate}
        return dict.fromkeys(rules.purposes[self.purpose].tasks, settings)

    @property
    def start(self) -> Mapping[str, object]:
        """The run that refitted the encoder, and the purpose."""
        return {"refit": self.refit, "purpose": self.purpose}

    @property
    def label(self) -> str:
        """Its name on screen."""
        return f"{self.arm} at {self.learning_rate:g}, seed {self.seed}"

    def task_data(self, task: str) -> TaskData:
        """The rows of a task; in a pilot, those of train alone, every tenth of which is scored."""
        data = super().task_data(task)
        return held_out_of_train(data) if self.purpose == PILOT else data


def held_out_of_train(data: TaskData) -> TaskData:
    """A task whose dev set is every tenth row of its train set, on which it is not trained."""
    rows = np.arange(len(data.train))
    held = rows % HELD_OUT_EVERY == 0
    return replace(
        data,
        train=data.train.take(rows[~held]),
        dev={data.task: data.train.take(rows[held])},
        data="every tenth row of train held out",
    )


def best_rates(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Arm -> the rate with which its pilot is best on average over the tasks. rows: of `PILOTS`.

    Arms of which a pilot is missing are left out.
    """
    rules = refitted_glue_rules()
    scores: dict[str, dict[float, dict[str, float]]] = {}
    for row in rows:
        if not rules.refusal(json.loads(row["config"] or "{}")) and row["metric"] == rules.metric.get(row["task"]):
            at_rate = scores.setdefault(row["variant"], {}).setdefault(row["learning_rate"], {})
            value = math.nan if row["value"] is None else float(row["value"])
            at_rate[row["task"]] = 0.0 if math.isnan(value) else value  # a fine-tuning that diverged
    tasks = set(rules.purposes[PILOT].tasks)
    complete = {
        arm: {rate: fmean(of.values()) for rate, of in rates.items()}
        for arm, rates in scores.items()
        if set(rates) >= set(rules.rates) and all(set(rates[rate]) >= tasks for rate in rules.rates)
    }
    return {arm: max(of, key=lambda rate: of[rate]) for arm, of in complete.items()}


def jobs(
    purpose: str, arms: Sequence[str], seeds: Sequence[int], *, glue: Path, refits: Path, out: Path
) -> list[RefittedGlueJob]:
    """The fine-tunings of a purpose. refits: the folder in which `refit` kept the weights.

    Raises AddendError where an arm's pilots, its judged refit or the weights of that are missing.
    """
    from analysis.store.read import query

    rules = refitted_glue_rules()
    rates = rates_of(purpose, arms, rules.rates, lambda: best_rates(frames.records(query(PILOTS))))
    runs = {(arm, seed): run_id for arm, seed, run_id in query(REFITS).itertuples(index=False, name=None)}
    result = []
    for seed in seeds:
        for arm in arms:
            refit_seed = 0 if purpose == PILOT else seed
            refit = runs.get((arm, refit_seed), "")
            weights = refits / refit / "weights.pt"
            if not refit or not weights.is_file():
                raise AddendError(
                    f"The weights of {arm}, seed {refit_seed} are not at {weights}; make them with python -m analysis "
                    f"refit --weights --arms {arm} --seeds {refit_seed}, or name that command's folder with --refits."
                )
            result += [
                RefittedGlueJob(
                    arm=arm,
                    seed=seed,
                    glue=glue,
                    out=out,
                    weights=weights,
                    purpose=purpose,
                    learning_rate=rate,
                    refit=refit,
                )
                for rate in rates[arm]
            ]
    return result
