"""The stored results of one preset: its fine-tunings at the chosen rates, majority levels, replicates."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from analysis import statistics
from analysis.core.errors import LinkError
from analysis.store import read

Replicates = dict[tuple[str, str], dict[Hashable, np.ndarray]]
"""(variant, task) -> pre-training seed -> (fine-tuning, resample) in points."""

MAJORITY = "majority"
"""The variant whose scores are those of the most frequent answer; no run of ours."""
DEFAULT_PRESET = "cpu"
POINTS = 100.0
OFFICIAL = "official"
MAKE = "python -m analysis ablate --preset cpu"
RUN = "variant, task, seed, finetune_seed, learning_rate"
NEWEST = f"QUALIFY row_number() OVER (PARTITION BY {RUN} ORDER BY created DESC, run_id) = 1"


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """One preset.

    choices: the learning rate of every variant and task. scores: variant -> task -> pre-training seed -> fine-tunings
    at that rate, the main metric in points. Of two of the same variant, task, seeds and rate the newest counts.
    tasks: indexed by task; title, glue, partial (the part of its data that was used, or ""), train_examples.
    pretrained: the pre-trainings that count, None for all of them; left_out: how many others were fine-tuned too.
    """

    preset: str
    choices: Mapping[tuple[str, str], statistics.Choice]
    scores: statistics.Scores
    titles: Mapping[str, str]
    tasks: pd.DataFrame
    majority: Mapping[str, float]
    without_encoder: Mapping[str, Mapping[str, float]]
    """Baseline that needs no encoder -> task -> its main metric, in points; empty where none was measured."""
    pretrained: tuple[str, ...] | None
    left_out: int
    runs: pd.DataFrame

    @property
    def variants(self) -> list[str]:
        """The variants that have a score, in the registry's order."""
        return [name for name in self.titles if name in self.scores]

    def replicates(self, rates: Mapping[tuple[str, str], float]) -> Replicates:
        """The main metric on resamples of the dev examples, at the given learning rates."""
        condition, parameters = _filter_sql(self.preset, self.pretrained)
        rows = read.query(
            f"SELECT {RUN}, replicates FROM (SELECT s.*, r.created FROM predictions s JOIN runs r USING (run_id) "
            f"JOIN tasks t ON t.task = s.task AND t.metric = s.metric) WHERE seed IS NOT NULL AND {condition} {NEWEST}",
            parameters,
        )
        by_seed_lists: dict[tuple[str, str], dict[Hashable, list[np.ndarray]]] = {}
        for variant, task, seed, _, rate, sample in rows.itertuples(index=False, name=None):
            if rates.get((variant, task)) == rate and sample is not None:
                values = POINTS * np.ma.filled(np.ma.asarray(sample, dtype=float), np.nan)
                by_seed_lists.setdefault((variant, task), {}).setdefault(int(seed), []).append(values)
        return {
            key: {seed: np.stack(sample) for seed, sample in by_seed.items()}
            for key, by_seed in by_seed_lists.items()
            if len({len(row) for sample in by_seed.values() for row in sample}) == 1
        }


def presets() -> tuple[str, ...]:
    """The presets that have scores, the default first; without pilots, which only choose rates."""
    rows = read.query(
        "SELECT DISTINCT preset FROM scores WHERE variant <> ? AND NOT ends_with(preset, '-pilot')", [MAJORITY]
    )
    return tuple(sorted(rows.preset, key=lambda name: (name != DEFAULT_PRESET, name)))


def resolve(preset: str) -> str:
    """The preset, or the first there is where the default has none. Raises LinkError for an unknown one."""
    known = presets()
    if preset in known or not known:
        return preset
    if preset != DEFAULT_PRESET:
        raise LinkError(f"There are no results of the preset {preset!r}; there are of: {', '.join(known)}.")
    return known[0]


def pretrained(preset: str) -> tuple[str, ...]:
    """The pre-trainings of a preset that were fine-tuned."""
    sql = "SELECT DISTINCT pretraining FROM scores WHERE preset = ? AND pretraining IS NOT NULL"
    rows = read.query(sql, [resolve(preset)])
    return tuple(sorted(rows.pretraining))


def _filter_sql(preset: str, counted: tuple[str, ...] | None) -> tuple[str, list[object]]:
    """The SQL condition for the rows that count, and the values of its placeholders."""
    if counted is None:
        return "preset = ?", [preset]
    return "preset = ? AND pretraining IN (SELECT unnest(?))", [preset, list(counted)]


def _without_encoder(preset: str) -> dict[str, dict[str, float]]:
    frame = read.query(
        f"SELECT baseline, task, {POINTS} * value AS value FROM encoder_free_scores "
        "WHERE preset = ? AND baseline <> ? ORDER BY baseline, task",
        [preset, MAJORITY],
    )
    return {str(name): dict(zip(rows.task, rows.value, strict=True)) for name, rows in frame.groupby("baseline")}


def load(preset: str, counted: tuple[str, ...] | None = None) -> Results:
    """The results of a preset, of all pre-trainings or of those that count; without rows where there are none."""
    preset = resolve(preset)
    subquery, parameters = _fine_tunings_sql(preset, counted)
    choices = _choices(subquery, parameters)
    scores = _scores(subquery, parameters, choices)
    majority = read.query(
        f"SELECT s.task, {POINTS} * s.value AS value FROM scores s JOIN runs r USING (run_id) "
        "JOIN tasks t ON t.task = s.task AND t.metric = s.metric WHERE s.variant = ? AND s.value IS NOT NULL "
        # Of this preset rather than of another one, whose dev set may be another.
        "QUALIFY row_number() OVER (PARTITION BY s.task ORDER BY (s.preset = ?) DESC NULLS LAST, r.created DESC, "
        "r.run_id) = 1",
        [MAJORITY, preset],
    )
    variants = read.query("SELECT variant, title FROM variants ORDER BY rowid")
    titles = dict(zip(variants.variant, variants.title, strict=True))
    titles |= {name: name for name in scores if name not in titles}
    tasks = read.query(
        f"SELECT t.task, any_value(t.title) AS title, any_value(t.glue) AS glue, "
        "coalesce(string_agg(DISTINCT coalesce(m.data, 'not said'), '; ' ORDER BY coalesce(m.data, 'not said')) "
        "FILTER (m.data IS DISTINCT FROM ?), '') AS partial, max(m.train_examples) AS train_examples "
        f"FROM {subquery} m JOIN tasks t USING (task) GROUP BY t.task ORDER BY glue DESC, min(t.rowid)",
        [OFFICIAL, *parameters],
    )
    return Results(
        preset=preset,
        choices=choices,
        scores=scores,
        titles=titles,
        tasks=tasks.set_index("task"),
        majority=dict(zip(majority.task, majority.value, strict=True)),
        without_encoder=_without_encoder(preset),
        pretrained=counted,
        left_out=0 if counted is None else len(set(pretrained(preset)) - set(counted)),
        runs=read.query(
            "SELECT run_id, device, created, git_sha, versions FROM runs "
            f"WHERE run_id IN (SELECT run_id FROM {subquery} m) ORDER BY run_id",
            parameters,
        ),
    )


def _fine_tunings_sql(preset: str, counted: tuple[str, ...] | None) -> tuple[str, list[object]]:
    """SQL of the fine-tunings that count, and what its question marks stand for."""
    condition, parameters = _filter_sql(preset, counted)
    # Of the pre-trainings that count there is one a variant and seed, so that nothing stands there twice.
    return f"(SELECT * FROM fine_tunings WHERE {condition} {NEWEST if counted is None else ''})", parameters


def _choices(subquery: str, parameters: list[object]) -> dict[tuple[str, str], statistics.Choice]:
    tried = read.query(
        "SELECT variant, task, metric, learning_rate, median(points) FILTER (isfinite(points)) AS median, "
        "count(*) FILTER (isfinite(points)) AS runs, count(*) - runs AS missing "
        f"FROM (SELECT *, {POINTS} * value AS points FROM {subquery}) GROUP BY ALL ORDER BY ALL",
        parameters,
    )
    return statistics.choose(statistics.Rate(*row) for row in tried.itertuples(index=False, name=None))


def _scores(
    subquery: str, parameters: list[object], choices: Mapping[tuple[str, str], statistics.Choice]
) -> statistics.Scores:
    if not choices:
        return {}
    columns = zip(*((*key, choice.learning_rate) for key, choice in choices.items()), strict=True)
    rows = read.query(
        "SELECT variant, task, list(seed ORDER BY seed) AS seeds, list(points ORDER BY seed) AS points FROM ("
        f"SELECT variant, task, seed, list({POINTS} * coalesce(value, 'nan'::DOUBLE) ORDER BY finetune_seed) AS points "
        f"FROM {subquery} JOIN (SELECT unnest(?) AS variant, unnest(?) AS task, unnest(?) AS learning_rate) "
        "USING (variant, task, learning_rate) GROUP BY variant, task, seed"
        ") GROUP BY variant, task ORDER BY variant, task",
        [*parameters, *(list(column) for column in columns)],
    )
    scores: dict[str, dict[str, statistics.CachedRuns]] = {}
    for variant, task, seeds, points in rows.itertuples(index=False, name=None):
        runs = {seed: values.tolist() for seed, values in zip(seeds.tolist(), points, strict=True)}
        scores.setdefault(variant, {})[task] = statistics.CachedRuns(runs)
    return scores
