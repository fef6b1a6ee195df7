"""Exports of Weights & Biases: the runs table as CSV; runs with config, summary and history as JSON.

The CSV has a column "Name" and a column per setting or last value. The JSON is what its API gives: one run, a list of
runs, or {"runs": [...]}, each with "name", "config", "summary" and, for curves, "history" (rows with "_step").
"""

import json
from collections.abc import Mapping
from typing import NotRequired, TypedDict, TypeGuard

from analysis.imports.curves import Point
from analysis.imports.reader import READERS, BadRow, ExtractedRows, Files, Reader, UserMetadata, number
from analysis.imports.tables import csv_header, csv_rows
from analysis.imports.texts import text
from analysis.imports.tracking_logs import STEPS, LoggedRun, add_run, finite_or_not

TOOL_COLUMNS = {"State", "Created", "Runtime", "Sweep", "User", "Notes", "Tags", "ID"}
"""Columns of the runs table; a CSV with at least two of them is one."""


class ExportedRun(TypedDict):
    """A run as the API gives it; what is not required is checked where it is read."""

    config: dict[str, object]
    summary: dict[str, object]
    history: NotRequired[object]
    name: NotRequired[object]
    display_name: NotRequired[object]
    id: NotRequired[object]


def read(files: Files, metadata: UserMetadata) -> ExtractedRows:
    """A CSV whose header has "Name" and two columns of the tool's own; a JSON of runs."""
    reading = ExtractedRows()
    for path, content in files.items():
        if path.lower().endswith(".csv"):
            _table(path, content, metadata, reading)
        elif path.lower().endswith(".json"):
            try:
                exported = json.loads(text(content))
            except (ValueError, RecursionError):
                continue  # Not of this form; another reader, or the plan, reports the file.
            _runs(path, exported, metadata, reading)
    return reading


def _table(path: str, content: bytes, metadata: UserMetadata, reading: ExtractedRows) -> None:
    header = set(csv_header(content))
    if "Name" not in header or len(header & TOOL_COLUMNS) < 2:
        return
    reading.used.add(path)
    for line, row in csv_rows(content):
        if isinstance(row, str):
            reading.bad.append(BadRow(path, line, row))
            continue
        values = {key: number(cell) for key, cell in row.items() if key and cell.strip()}
        name = str(values.pop("Name", "")) or f"line {line}"
        settings = _plain_values(values)
        run = LoggedRun(file=path, line=line, name=name, settings=settings, scalars=values)
        add_run(run, metadata, reading)


def _flat(values: Mapping[str, object]) -> dict[str, object]:
    """Values with those of inner objects under KEY.INNER, as the tool's own table names them."""
    flat: dict[str, object] = {}
    pending = list(values.items())[::-1]
    while pending:
        key, value = pending.pop()
        if isinstance(value, dict) and value:
            pending += [(f"{key}.{inner}", item) for inner, item in value.items()][::-1]
        else:
            flat[key] = finite_or_not(value)
    return flat


def _plain_values(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if isinstance(value, str | int | float)}


def _runs(path: str, exported: object, metadata: UserMetadata, reading: ExtractedRows) -> None:
    if isinstance(exported, dict):
        exported = exported.get("runs", [exported])
    runs = [item for item in exported if _is_run(item)] if isinstance(exported, list) else []
    if not isinstance(exported, list) or not runs or len(runs) < len(exported):
        return
    reading.used.add(path)
    for index, run in enumerate(runs, start=1):
        config = {key: _value(value) for key, value in run["config"].items()}
        summary = _flat({key: value for key, value in run["summary"].items() if not key.startswith("_")})
        history = run.get("history") or []
        if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
            reading.bad.append(BadRow(path, index, "has a history that is no list of rows."))
            continue
        series = _series(history)
        name = str(run.get("name") or run.get("display_name") or run.get("id") or f"run {index}")
        settings = _plain_values(config)
        logged = LoggedRun(file=path, line=index, name=name, settings=settings, scalars=summary, series=series)
        add_run(logged, metadata, reading)


def _series(history: list[dict[str, object]]) -> dict[str, list[Point]]:
    """The values of every key, at the optimiser's step where a row says it. Null is what a row does not say."""
    series: dict[str, list[Point]] = {}
    for row in history:
        step = next((row[key] for key in (*STEPS, "_step") if row.get(key) is not None), None)
        for key, value in _flat(row).items():
            if not key.startswith("_") and key not in STEPS and value is not None:
                series.setdefault(key, []).append(Point(step, value, row.get("_runtime")))
    return series


def _is_run(item: object) -> TypeGuard[ExportedRun]:
    return isinstance(item, dict) and isinstance(item.get("config"), dict) and isinstance(item.get("summary"), dict)


def _value(setting: object) -> object:
    """Raw configs say {"value": x, "desc": ...}."""
    return setting["value"] if isinstance(setting, dict) and "value" in setting else setting


READERS.add(
    "wandb",
    Reader(
        title="Weights & Biases: runs as CSV or JSON",
        expects='the exported runs table (a column "Name"), or a JSON of runs with "config", "summary", "history"',
        read=read,
    ),
)
