"""What the store holds of one preset: a row a fine-tuning, majority levels, final validation losses, replicates."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.errors import LinkError
from analysis.store import read

Frame = Any
"""A pandas frame. Its type knows nothing of columns, so a checker is told nothing."""

Drawn = dict[tuple[str, str], dict[Hashable, np.ndarray]]
"""(variant, task) -> pre-training seed -> (fine-tuning, resample) in points."""

MAJORITY = "majority"
"""The variant whose scores are those of the most frequent answer; no run of ours."""
DEFAULT_PRESET = "cpu"
POINTS = 100.0
OFFICIAL = "official"
FINAL_LOSS = "final_loss_1x"
MAKE = "python -m analysis ablate --preset cpu"
NEWEST = "QUALIFY row_number() OVER (PARTITION BY {} ORDER BY r.created DESC, r.run_id) = 1"
RUN = "s.variant, s.task, s.seed, s.finetune_seed, s.learning_rate"


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One preset.

    rows: a row a fine-tuning, its main metric in points. Of two of the same variant, task, seeds and rate the newest.
    tasks: indexed by task; title, glue, partial (what is partial about its data, or "").
    losses: variant -> pre-training seed -> final validation loss at the training length, in nats.
    """

    preset: str
    rows: Frame
    titles: Mapping[str, str]
    tasks: Frame
    majority: Mapping[str, float]
    losses: Mapping[str, Mapping[Hashable, float]]
    runs: Frame

    @property
    def variants(self) -> list[str]:
        """Those with a score, in the registry's order."""
        have = set(self.rows.variant)
        return [name for name in self.titles if name in have]

    def replicates(self, rates: Mapping[tuple[str, str], float]) -> Drawn:
        """The main metric on resamples of the dev examples, at the given learning rates."""
        found: Frame = read.query(
            f"SELECT {RUN}, s.replicates FROM predictions s JOIN runs r USING (run_id) "
            "JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.preset = ? AND s.seed IS NOT NULL "
            + NEWEST.format(RUN),
            [self.preset],
        )
        gathered: dict[tuple[str, str], dict[Hashable, list[np.ndarray]]] = {}
        for variant, task, seed, _, rate, drawn in found.itertuples(index=False, name=None):
            if rates.get((variant, task)) == rate and drawn is not None:
                values = POINTS * np.ma.filled(np.ma.asarray(drawn, dtype=float), np.nan)
                gathered.setdefault((variant, task), {}).setdefault(int(seed), []).append(values)
        return {
            key: {seed: np.stack(drawn) for seed, drawn in by_seed.items()}
            for key, by_seed in gathered.items()
            if len({len(one) for drawn in by_seed.values() for one in drawn}) == 1
        }


def presets() -> list[str]:
    """Those with scores, the default first."""
    found = read.query("SELECT DISTINCT preset FROM scores WHERE variant <> ? AND preset IS NOT NULL", [MAJORITY])
    return sorted(found.preset, key=lambda name: (name != DEFAULT_PRESET, name))


def load(preset: str) -> Results:
    """The results of a preset; without rows where there are none at all. Raises LinkError for an unknown one."""
    known = presets()
    if preset not in known:
        if known and preset != DEFAULT_PRESET:
            raise LinkError(f"There are no results of the preset {preset!r}; there are of: {', '.join(known)}.")
        preset = known[0] if known else preset
    rows: Frame = read.query(
        f"SELECT {RUN}, s.metric, s.pretraining, s.data, s.train_examples, s.dev_examples, r.run_id, "
        f"{POINTS} * s.value AS value FROM scores s JOIN runs r USING (run_id) "
        "JOIN tasks t ON t.task = s.task AND t.metric = s.metric "
        "WHERE s.preset = ? AND s.variant <> ? AND s.seed IS NOT NULL " + NEWEST.format(RUN) + " ORDER BY ALL",
        [preset, MAJORITY],
    )
    levels: Frame = read.query(
        f"SELECT s.task, {POINTS} * s.value AS value FROM scores s JOIN runs r USING (run_id) "
        "JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.variant = ? AND s.value IS NOT NULL "
        # Of this preset rather than of another one, whose dev set may be another.
        "QUALIFY row_number() OVER (PARTITION BY s.task ORDER BY (s.preset = ?) DESC NULLS LAST, r.created DESC, "
        "r.run_id) = 1",
        [MAJORITY, preset],
    )
    variants = read.query("SELECT variant, title FROM variants ORDER BY rowid")
    titles = dict(zip(variants.variant, variants.title, strict=True))
    titles |= {name: name for name in dict.fromkeys(rows.variant) if name not in titles}
    tasks: Frame = read.query("SELECT task, title, glue FROM tasks WHERE metric IS NOT NULL ORDER BY rowid")
    tasks = tasks[tasks.task.isin(set(rows.task))].sort_values("glue", ascending=False, kind="stable")
    partial = rows[rows.data.fillna("not said") != OFFICIAL].groupby("task").data
    said = {task: "; ".join(dict.fromkeys(str(text) for text in found.fillna("not said"))) for task, found in partial}
    return Results(
        preset=preset,
        rows=rows,
        titles=titles,
        tasks=tasks.assign(partial=[said.get(task, "") for task in tasks.task]).set_index("task"),
        majority=dict(zip(levels.task, levels.value, strict=True)),
        losses=_losses(preset, set(rows.pretraining)),
        runs=_runs(rows),
    )


def _losses(preset: str, pretrained: set[str]) -> dict[str, dict[Hashable, float]]:
    """Of the pre-trainings that were fine-tuned, where the curves name them; else the newest of each seed."""
    found: Frame = read.query(
        "SELECT s.variant, s.seed, s.run_id, s.value, r.created FROM curves s JOIN runs r USING (run_id) "
        "WHERE s.preset = ? AND s.metric = ? AND s.seed IS NOT NULL ORDER BY r.created, s.run_id",
        [preset, FINAL_LOSS],
    )
    named = found.run_id.isin(pretrained)
    found = found[named | ~found.variant.isin(set(found.variant[named]))]
    losses: dict[str, dict[Hashable, float]] = {}
    for row in found.itertuples():
        losses.setdefault(row.variant, {})[int(row.seed)] = float(row.value)
    return losses


def _runs(rows: Frame) -> Frame:
    """The runs that the rows are from."""
    every: Frame = read.query(
        "SELECT run_id, device, created, git_sha, versions FROM runs WHERE run_id IN (SELECT run_id FROM scores)"
    )
    return every[every.run_id.isin(set(rows.run_id))]
