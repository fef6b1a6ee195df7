"""What the store holds of one preset: a row a fine-tuning, majority levels, replicates."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from analysis.errors import LinkError
from analysis.store import read
from analysis.store.paths import version

Frame = Any
"""A pandas frame. Its type knows nothing of columns, so a checker is told nothing."""

Drawn = dict[tuple[str, str], dict[Hashable, np.ndarray]]
"""(variant, task) -> pre-training seed -> (fine-tuning, resample) in points."""

MAJORITY = "majority"
"""The variant whose scores are those of the most frequent answer; no run of ours."""
DEFAULT_PRESET = "cpu"
POINTS = 100.0
OFFICIAL = "official"
MAKE = "python -m analysis ablate --preset cpu"
NEWEST = "QUALIFY row_number() OVER (PARTITION BY {} ORDER BY r.created DESC, r.run_id) = 1"
COUNTS = "s.seed IS NOT NULL AND (? OR list_contains(?, s.pretraining))"
"""A run of a model, of one of the pre-trainings that count."""
RUN = "s.variant, s.task, s.seed, s.finetune_seed, s.learning_rate"


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One preset.

    rows: a row a fine-tuning, its main metric in points. Of two of the same variant, task, seeds and rate the newest.
    tasks: indexed by task; title, glue, partial (what is partial about its data, or "").
    pretrained: the pre-trainings that count, None for all of them; left_out: how many others were fine-tuned too.
    """

    preset: str
    rows: Frame
    titles: Mapping[str, str]
    tasks: Frame
    majority: Mapping[str, float]
    pretrained: tuple[str, ...] | None
    left_out: int
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
            f"JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.preset = ? AND {COUNTS} "
            + NEWEST.format(RUN),
            [self.preset, *_counted(self.pretrained)],
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
    return list(_presets(version()))


@lru_cache(maxsize=4)
def _presets(version: tuple[str, int, int]) -> tuple[str, ...]:
    """Kept until the store changes: every figure asks."""
    del version
    found = read.query("SELECT DISTINCT preset FROM scores WHERE variant <> ? AND preset IS NOT NULL", [MAJORITY])
    return tuple(sorted(found.preset, key=lambda name: (name != DEFAULT_PRESET, name)))


def resolve(preset: str) -> str:
    """The preset, or the first there is where the default has none. Raises LinkError for an unknown one."""
    known = presets()
    if preset in known or not known:
        return preset
    if preset != DEFAULT_PRESET:
        raise LinkError(f"There are no results of the preset {preset!r}; there are of: {', '.join(known)}.")
    return known[0]


def pretrained(preset: str) -> list[str]:
    """The pre-trainings of a preset that were fine-tuned."""
    found = read.query(
        "SELECT DISTINCT pretraining FROM scores WHERE preset = ? AND pretraining IS NOT NULL", [resolve(preset)]
    )
    return sorted(found.pretraining)


def _counted(those: tuple[str, ...] | None) -> tuple[bool, list[str]]:
    return those is None, list(those or ())


def load(preset: str, counted: tuple[str, ...] | None = None) -> Results:
    """The results of a preset, of all pre-trainings or of those that count; without rows where there are none."""
    preset = resolve(preset)
    rows: Frame = read.query(
        f"SELECT {RUN}, s.metric, s.pretraining, s.data, s.train_examples, s.dev_examples, r.run_id, "
        f"{POINTS} * s.value AS value FROM scores s JOIN runs r USING (run_id) "
        "JOIN tasks t ON t.task = s.task AND t.metric = s.metric "
        f"WHERE s.preset = ? AND s.variant <> ? AND {COUNTS} " + NEWEST.format(RUN) + " ORDER BY ALL",
        [preset, MAJORITY, *_counted(counted)],
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
        pretrained=counted,
        left_out=0 if counted is None else len(set(pretrained(preset)) - set(counted)),
        runs=_runs(rows),
    )


def _runs(rows: Frame) -> Frame:
    """The runs that the rows are from."""
    every: Frame = read.query(
        "SELECT run_id, device, created, git_sha, versions FROM runs WHERE run_id IN (SELECT run_id FROM scores)"
    )
    return every[every.run_id.isin(set(rows.run_id))]
