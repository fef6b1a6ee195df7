"""Exports of Weights & Biases: the runs table as CSV; runs with config, summary and history as JSON.

The CSV has a column "Name" and a column per setting or last value. The JSON is what its API gives: one run, a list of
runs, or {"runs": [...]}, each with "name", "config", "summary" and, for curves, "history" (rows with "_step").
"""

import csv
import io
import json
from collections.abc import Mapping
from typing import NotRequired, TypedDict, TypeGuard

from analysis.imports.base import READERS, BadRow, Files, Reader, Reading, StatedByReader
from analysis.imports.tracking_logs import Logged, Point, add, number

ITS_OWN = {"State", "Created", "Runtime", "Sweep", "User", "Notes", "Tags", "ID"}
"""Columns that the runs table has of its own; two of them tell it from another CSV with names."""


class ExportedRun(TypedDict):
    """A run as the API gives it; what is not required is checked where it is read."""

    config: dict[str, object]
    summary: dict[str, object]
    history: NotRequired[object]
    name: NotRequired[object]
    display_name: NotRequired[object]
    id: NotRequired[object]


def read(files: Files, stated: StatedByReader) -> Reading:
    """A CSV whose header has "Name" and two columns of the tool's own; a JSON of runs."""
    reading = Reading()
    for path, content in files.items():
        try:
            if path.lower().endswith(".csv"):
                _table(path, content.decode("utf-8-sig"), stated, reading)
            elif path.lower().endswith(".json"):
                _runs(path, json.loads(content.decode("utf-8-sig")), stated, reading)
        except (ValueError, RecursionError, csv.Error):
            continue  # Not of this form; who takes it says what is wrong, or nobody does and that is said.
    return reading


def _table(path: str, text: str, stated: StatedByReader, reading: Reading) -> None:
    table = csv.DictReader(io.StringIO(text, newline=""))
    header = set(table.fieldnames or [])
    if "Name" not in header or len(header & ITS_OWN) < 2:
        return
    reading.used.add(path)
    for row in table:
        values = {key: number(cell) for key, cell in row.items() if key and cell not in (None, "")}
        name = str(values.pop("Name", "")) or f"line {table.line_num}"
        add(_logged(path, table.line_num, name, values, values), stated, reading)


def _logged(
    path: str,
    line: int | None,
    name: str,
    settings: Mapping[str, object],
    scalars: Mapping[str, object],
    series: Mapping[str, list[Point]] | None = None,
) -> Logged:
    own = {key: value for key, value in settings.items() if isinstance(value, str | int | float)}
    return Logged(file=path, line=line, name=name, settings=own, scalars=scalars, series=series or {})


def _runs(path: str, result: object, stated: StatedByReader, reading: Reading) -> None:
    if isinstance(result, dict):
        result = result.get("runs", [result])
    runs = [one for one in result if _is_run(one)] if isinstance(result, list) else []
    if not isinstance(result, list) or not runs or len(runs) < len(result):
        return
    reading.used.add(path)
    for place, run in enumerate(runs, start=1):
        config = {key: _value(value) for key, value in run["config"].items()}
        summary = {key: value for key, value in run["summary"].items() if not key.startswith("_")}
        series: dict[str, list[Point]] = {}
        history = run.get("history") or []
        if not isinstance(history, list) or not all(isinstance(row, dict) for row in history):
            reading.bad.append(BadRow(path, place, "has a history that is no list of rows"))
            continue
        for row in history:
            for key, value in row.items():
                if not key.startswith("_") and value is not None and "_step" in row:
                    seconds = row.get("_runtime")
                    series.setdefault(key, []).append((row["_step"], value, seconds))
        name = str(run.get("name") or run.get("display_name") or run.get("id") or f"run {place}")
        add(_logged(path, place, name, config, summary, series), stated, reading)


def _is_run(one: object) -> TypeGuard[ExportedRun]:
    return isinstance(one, dict) and isinstance(one.get("config"), dict) and isinstance(one.get("summary"), dict)


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
