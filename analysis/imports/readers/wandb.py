"""Exports of Weights & Biases: the runs table as CSV; runs with config, summary and history as JSON.

The CSV has a column "Name" and a column per setting or last value. The JSON is what its API gives: one run, a list of
runs, or {"runs": [...]}, each with "name", "config", "summary" and, for curves, "history" (rows with "_step").
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import NotRequired, TypedDict, TypeGuard

from analysis.imports.base import READERS, BadRow, Files, Reader, Reading, UserMetadata
from analysis.imports.tracking_logs import LoggedRun, Point, add_run, number

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


def read(files: Files, metadata: UserMetadata) -> Reading:
    """A CSV whose header has "Name" and two columns of the tool's own; a JSON of runs."""
    reading = Reading()
    for path, content in files.items():
        try:
            if path.lower().endswith(".csv"):
                _table(path, content.decode("utf-8-sig"), metadata, reading)
            elif path.lower().endswith(".json"):
                _runs(path, json.loads(content.decode("utf-8-sig")), metadata, reading)
        except (ValueError, RecursionError, csv.Error):
            continue  # Not of this form; another reader, or the plan, reports the file.
    return reading


def _table(path: str, text: str, metadata: UserMetadata, reading: Reading) -> None:
    table = csv.DictReader(io.StringIO(text, newline=""))
    header = set(table.fieldnames or [])
    if "Name" not in header or len(header & TOOL_COLUMNS) < 2:
        return
    reading.used.add(path)
    for row in table:
        values = {key: number(cell) for key, cell in row.items() if key and cell not in (None, "")}
        name = str(values.pop("Name", "")) or f"line {table.line_num}"
        settings = _plain_values(values)
        run = LoggedRun(file=path, line=table.line_num, name=name, settings=settings, scalars=values)
        add_run(run, metadata, reading)


def _plain_values(settings: Mapping[str, object]) -> dict[str, object]:
    return {key: value for key, value in settings.items() if isinstance(value, str | int | float)}


def _runs(path: str, exported: object, metadata: UserMetadata, reading: Reading) -> None:
    if isinstance(exported, dict):
        exported = exported.get("runs", [exported])
    runs = [item for item in exported if _is_run(item)] if isinstance(exported, list) else []
    if not isinstance(exported, list) or not runs or len(runs) < len(exported):
        return
    reading.used.add(path)
    for index, run in enumerate(runs, start=1):
        config = {key: _value(value) for key, value in run["config"].items()}
        summary = {key: value for key, value in run["summary"].items() if not key.startswith("_")}
        series: dict[str, list[Point]] = {}
        history = run.get("history") or []
        if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
            reading.bad.append(BadRow(path, index, "has a history that is no list of rows"))
            continue
        for row in history:
            for key, value in row.items():
                if not key.startswith("_") and value is not None and "_step" in row:
                    seconds = row.get("_runtime")
                    series.setdefault(key, []).append((row["_step"], value, seconds))
        name = str(run.get("name") or run.get("display_name") or run.get("id") or f"run {index}")
        settings = _plain_values(config)
        logged = LoggedRun(file=path, line=index, name=name, settings=settings, scalars=summary, series=series)
        add_run(logged, metadata, reading)


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
