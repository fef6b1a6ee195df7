"""Runs of MLflow: its file store (experiment/run/metrics, params, tags, meta.yaml), or a runs table as CSV.

The CSV has the columns run_id, metrics.NAME, params.NAME and tags.NAME, as `mlflow experiments csv` and search_runs
give. A file of metrics has lines of milliseconds, value and step.
"""

import csv
import io
import re
from typing import Any

from analysis.imports.base import READERS, BadRow, Files, Reader, Reading, UserMetadata
from analysis.imports.tracking_logs import LoggedRun, Point, add_run, number

PART = re.compile(r"(?P<run>(?:.*/)?[^/]+)/(?P<part>metrics|params|tags)/(?P<key>.+)")
META = re.compile(r"(?P<run>(?:.*/)?[^/]+)/meta\.yaml")


def read(files: Files, metadata: UserMetadata) -> Reading:
    """Folders with a meta.yaml that names a run, and CSV files with run_id and metrics columns."""
    reading = Reading()
    for path, content in files.items():
        if path.lower().endswith(".csv"):
            _table(path, content, metadata, reading)
    runs = {
        match["run"]: path
        for path, content in files.items()
        if (match := META.fullmatch(path)) and re.search(rb"^run_(uu)?id:", content, re.MULTILINE)
    }
    # The other files in an experiment's folder hold no results.
    reading.used.update(p for p, c in files.items() if META.fullmatch(p) and re.search(rb"^experiment_id:", c, re.M))
    for run, meta in runs.items():
        _folder(run, meta, files, metadata, reading)
    return reading


def _folder(run: str, meta: str, files: Files, metadata: UserMetadata, reading: Reading) -> None:
    sections: dict[str, dict[str, str]] = {"metrics": {}, "params": {}, "tags": {}}
    for path, content in files.items():
        if path.startswith(f"{run}/"):
            reading.used.add(path)
            if (match := PART.fullmatch(path)) and match["run"] == run:
                sections[match["part"]][match["key"]] = content.decode("utf-8", "replace")
    series: dict[str, list[Point]] = {}
    scalars: dict[str, object] = {}
    start = re.search(rb"^start_time: *(\d+)", files[meta], re.MULTILINE)
    for key, text in sections["metrics"].items():
        points: list[Point] = []
        for line, row in enumerate(text.splitlines(), start=1):
            cells = [number(cell) for cell in row.split()]
            # Older stores have no step.
            numbers = [cell for cell in cells if isinstance(cell, float)]
            if not 2 <= len(cells) <= 3 or len(numbers) < len(cells):
                reading.bad.append(BadRow(f"{run}/metrics/{key}", line, "expected milliseconds, value and step"))
                break
            seconds = (numbers[0] - int(start[1])) / 1000 if start else None
            points.append((numbers[2] if len(numbers) == 3 else line - 1, numbers[1], seconds))
        else:
            if points:
                series[key], scalars[key] = points, points[-1][1]
    name = sections["tags"].get("mlflow.runName", run.rpartition("/")[2]).strip()
    settings = {key: number(text.strip()) for key, text in sections["params"].items()}
    logged = LoggedRun(file=meta, line=None, name=name, settings=settings, scalars=scalars, series=series)
    add_run(logged, metadata, reading)


def _table(path: str, content: bytes, metadata: UserMetadata, reading: Reading) -> None:
    try:
        table = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""))
        header = list(table.fieldnames or [])
        if "run_id" not in header or not any(name.startswith("metrics.") for name in header):
            return
        rows = list(table)
    except (csv.Error, UnicodeDecodeError):
        return  # Not of this form; the tidy reader reports the file.
    reading.used.add(path)
    for line, row in enumerate(rows, start=2):
        sections: dict[str, dict[str, Any]] = {"metrics": {}, "params": {}, "tags": {}}
        for key, cell in row.items():
            part, dot, name = str(key).partition(".")
            if dot and part in sections and cell not in (None, ""):
                sections[part][name] = number(cell)
        name = str(sections["tags"].get("mlflow.runName") or row["run_id"])
        logged = LoggedRun(file=path, line=line, name=name, settings=sections["params"], scalars=sections["metrics"])
        add_run(logged, metadata, reading)


READERS.add(
    "mlflow",
    Reader(
        title="MLflow: a file store's runs, or runs as CSV",
        expects="an mlruns folder, or the CSV of mlflow experiments csv (run_id, metrics.*, params.*)",
        read=read,
    ),
)
