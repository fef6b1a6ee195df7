"""Every stored run, with its settings."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from analysis.ablation.presets import describe_changes, options
from analysis.core import frames
from analysis.core.formatting import join_names, plural
from analysis.store import read
from analysis.store.kinds import KINDS, kind_title as kind_title

FINISHED, STOPPED, UNREADABLE, IMPORTED = "finished", "stopped early", "unreadable", "imported"

NUMBERS = ("seed", "seconds", "steps")
RUNS = """
SELECT r.run_id, r.kind, r.variant, coalesce(v.title, r.variant) AS title, r.preset, r.seed, r.model, r.revision,
    r.device, r.dtype, r.created, r.seconds, r.git_sha, r.versions, r.command, r.config, r.file, c.steps
FROM runs r LEFT JOIN (SELECT run_id, max(step) AS steps FROM curves GROUP BY run_id) c USING (run_id)
LEFT JOIN variants v USING (variant)
-- Probes that readers saved are theirs alone.
WHERE r.kind <> 'probe' OR r.run_id LIKE 'example-%'
UNION ALL BY NAME
SELECT file AS run_id, 'unreadable' AS kind, file, problem AS command FROM problems
WHERE (file LIKE 'results/%' OR file LIKE 'imported/%') AND file NOT IN (SELECT file FROM runs)
ORDER BY created DESC NULLS FIRST, run_id
"""


def all_runs() -> pd.DataFrame:
    """One row per run, the newest first, files that could not be read before them.

    The column `status` says whether a run is complete, `title` the variant's name on screen, and `changed` in words
    what of a pre-training's settings is not its preset's.
    """
    rows = read.query(RUNS)
    text_columns = [str(name) for name in rows if name not in NUMBERS]
    runs = [run | {"config": _config(run)} for run in frames.records(rows)]
    rows = rows.assign(status=[_status(run) for run in runs], changed=[_changed(run) for run in runs])
    return rows.assign(**{name: rows[name].fillna("") for name in text_columns})


def newest_of_each_first(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs, the newest of every variant or model and kind before all others; both in the order of `runs`.

    A sweep stores many runs of few variants one after another, which would fill a table that is ordered by time alone.
    """
    again = runs.duplicated(["kind", "variant", "model"])
    return pd.concat([runs[~again], runs[again]])


MOST_KINDS = 5
"""Kinds of runs that the summary names."""


def summary(runs: pd.DataFrame) -> str:
    """A sentence on what the store holds: the runs by kind, and when and with which code they were made.

    runs: as `all_runs` gives them, the newest first.
    """
    made = runs[(runs.kind != UNREADABLE) & (runs.created != "")]
    if made.empty:
        return "The store holds no run yet."
    counts = made.kind.value_counts().sort_values(ascending=False, kind="stable")
    kinds = [f"{kind_title(str(kind))} ({count:,})" for kind, count in counts.head(MOST_KINDS).items()]
    rest = len(counts) - len(kinds)
    kinds += [f"{rest} more {'kind' if rest == 1 else 'kinds'}"] if rest else []
    first, last = (datetime.fromisoformat(str(time)) for time in (made.created.min(), made.created.max()))
    start, end = (f"{day.day} {day:%B %Y}" for day in (first, last))
    if start.partition(" ")[2] == end.partition(" ")[2]:
        start = str(first.day)  # The month and the year are those of the end.
    when = f"on {end}" if first.date() == last.date() else f"between {start} and {end}"
    revisions = [str(revision) for revision in made.git_sha if revision]
    code = ""
    if revisions:
        code = f" with {plural(len(set(revisions)), 'revision')} of the code, the newest {revisions[0][:SHA]}"
    return f"The store holds {plural(len(made), 'run')}, made {when}{code}: {join_names(kinds)}."


SHA = 8
"""The letters of a revision that a sentence names."""


def _config(run: Mapping[str, Any]) -> dict[str, Any]:
    """A pre-training's settings; of other runs nothing is asked."""
    return json.loads(run["config"]) if run["kind"] == "curves" else {}


def _changed(run: Mapping[str, Any]) -> str:
    changes = options(run["config"], run["preset"])
    return describe_changes(changes, run["preset"]) if changes else ""


def _status(run: Mapping[str, Any]) -> str:
    if run["kind"] == UNREADABLE:
        return UNREADABLE
    if str(run["preset"]).startswith(IMPORTED):
        return IMPORTED
    planned = run["config"].get("steps")
    return STOPPED if planned and not pd.isna(run["steps"]) and run["steps"] < planned else FINISHED


MOST_ROWS = 1000
"""The most stored rows of a run that are shown."""


def stored_rows(kind: str, run_id: str) -> pd.DataFrame:
    """The numbers that a run stored, at most `MOST_ROWS` of them; none for a kind that has no table of its own."""
    if kind not in KINDS or not KINDS[kind].table:
        return pd.DataFrame()
    return read.query(f"SELECT * EXCLUDE (run_id) FROM {kind} WHERE run_id = ? LIMIT {MOST_ROWS}", [run_id])


MAX_CHARACTERS = 500
"""The most characters of a setting's value that are shown."""


def settings(config: str) -> pd.DataFrame:
    """A run's settings, one row each; a nested setting is named by its path."""
    rows = [(name, _shortened(value)) for name, value in _flatten(json.loads(config))]
    return pd.DataFrame(rows, columns=["setting", "value"])


def _shortened(value: str) -> str:
    """A value of which a table shows the beginning; the run's file holds all of it."""
    return value if len(value) <= MAX_CHARACTERS else f"{value[:MAX_CHARACTERS]}… ({len(value):,} characters)"


def _flatten(values: Mapping[str, Any], path: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in values.items():
        if isinstance(value, Mapping) and value:
            rows += _flatten(value, f"{path}{name}.")
        else:
            rows.append((f"{path}{name}", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
    return rows
