"""Runs of MLflow: its file store (experiment/run/metrics, params, tags, meta.yaml), or a runs table as CSV.

The CSV has the columns run_id, metrics.NAME, params.NAME and tags.NAME, as `mlflow experiments csv` and search_runs
give. A file of metrics has lines of milliseconds, value and step, in newer versions with a data set's name and digest.
Runs and experiments that were deleted stay in the store, and are left out.
"""

import re
from typing import Any

from analysis.imports.curves import Point
from analysis.imports.reader import (
    READERS,
    BadRow,
    ExtractedRows,
    Files,
    Reader,
    UserMetadata,
    as_float,
    number,
    parsed,
)
from analysis.imports.tables import csv_header, csv_rows
from analysis.imports.texts import UnreadableFile, text
from analysis.imports.tracking_logs import LoggedRun, add_run

META = re.compile(r"(?P<folder>(?:.*/)?[^/]+)/meta\.yaml")
RUN = re.compile(r"^run_(uu)?id:", re.MULTILINE)
EXPERIMENT = re.compile(r"^experiment_id:", re.MULTILINE)
DELETED = re.compile(r"^lifecycle_stage: *[\"']?deleted\b", re.MULTILINE)
START = re.compile(r"^start_time: *([0-9]+) *$", re.MULTILINE)
TRASH = ".trash"
"""The folder of the store that deleted experiments are moved to."""
SECTIONS = ("metrics", "params", "tags")


def read(files: Files, metadata: UserMetadata) -> ExtractedRows:
    """Folders with a meta.yaml that names a run, and CSV files with run_id and metrics columns."""
    reading = ExtractedRows()
    for path, content in files.items():
        if path.lower().endswith(".csv"):
            _table(path, content, metadata, reading)
    metas = {match["folder"]: text(content) for path, content in files.items() if (match := META.fullmatch(path))}
    runs = {folder: meta for folder, meta in metas.items() if RUN.search(meta)}
    experiments = {folder: meta for folder, meta in metas.items() if folder not in runs and EXPERIMENT.search(meta)}
    by_run: dict[str, dict[str, bytes]] = {run: {} for run in runs}
    for path, content in files.items():
        parents = _parents(path)
        if run := next((parent for parent in parents if parent in runs), None):
            by_run[run][path.removeprefix(f"{run}/")] = content
            reading.used.add(path)
        elif any(parent in experiments for parent in parents):
            reading.used.add(path)  # Logged models, traces and tags of an experiment hold no results of runs.
    for run, contents in by_run.items():
        deleted = TRASH in run.split("/") or any(
            DELETED.search(meta) for folder in (run, *_parents(run)) if (meta := metas.get(folder))
        )
        if deleted:
            reading.left.append(f"{run}: the run, or its experiment, was deleted in MLflow")
        else:
            _folder(run, runs[run], contents, metadata, reading)
    return reading


def _parents(path: str) -> list[str]:
    """The folders of a path, the outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _folder(run: str, meta: str, contents: Files, metadata: UserMetadata, reading: ExtractedRows) -> None:
    sections: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for name, content in contents.items():
        section, slash, key = name.partition("/")
        if slash and section in sections:
            try:
                sections[section][key] = text(content)
            except UnreadableFile as error:
                reading.bad.append(BadRow(f"{run}/{name}", None, f"could not be read: it {error}."))
                return
    start = START.search(meta)
    series: dict[str, list[Point]] = {}
    scalars: dict[str, object] = {}
    for key, lines in sections["metrics"].items():
        points = _points(f"{run}/metrics/{key}", lines, reading)
        if points:
            series[key] = [_since(point, int(start[1]) if start else None) for point in points]
            # MLflow's own rule for the latest value: the last step, there the last time, there the largest.
            scalars[key] = max(points, key=lambda p: (as_float(p.step), as_float(p.seconds), as_float(p.value))).value
    name = sections["tags"].get("mlflow.runName", run.rpartition("/")[2]).strip()
    settings = {key: number(value.strip()) for key, value in sections["params"].items()}
    places = {key: f"{run}/metrics/{key}" for key in series}
    logged = LoggedRun(
        file=f"{run}/meta.yaml", line=None, name=name, settings=settings, scalars=scalars, series=series, places=places
    )
    add_run(logged, metadata, reading)


def _points(file: str, lines: str, reading: ExtractedRows) -> list[Point]:
    """The lines of a metric by step and time, in milliseconds; none where one is no line of MLflow's."""
    points: list[Point] = []
    for line, row in enumerate(lines.splitlines(), start=1):
        cells = row.split()
        numbers = [parsed(cell) for cell in cells[:3]]
        # Older stores have no step, newer ones a data set's name and digest after it.
        if (
            len(cells) not in (2, 3, 5)
            or None in numbers
            or any(as_float(cell) != as_float(cell) for cell in cells[::2][:2])
        ):
            reading.bad.append(BadRow(file, line, f"is {row.strip()[:40]!r}; expected milliseconds, value and step."))
            return []
        milliseconds, value, step = [*numbers, 0.0][:3]
        points.append(Point(step, value, milliseconds))
    return sorted(points, key=lambda point: (as_float(point.step), as_float(point.seconds)))


def _since(point: Point, began: int | None) -> Point:
    """A point of milliseconds since 1970 as one of seconds since the run began."""
    return Point(point.step, point.value, None if began is None else (as_float(point.seconds) - began) / 1000)


def _table(path: str, content: bytes, metadata: UserMetadata, reading: ExtractedRows) -> None:
    header = csv_header(content)
    if "run_id" not in header or not any(name.startswith("metrics.") for name in header):
        return  # Not of this form; the tidy reader reports the file.
    reading.used.add(path)
    for line, row in csv_rows(content):
        if isinstance(row, str):
            reading.bad.append(BadRow(path, line, row))
            continue
        sections: dict[str, dict[str, Any]] = {section: {} for section in SECTIONS}
        for key, cell in row.items():
            part, dot, name = key.partition(".")
            if dot and part in sections and cell.strip():
                sections[part][name] = number(cell)
        name = str(sections["tags"].get("mlflow.runName") or row["run_id"])
        if row.get("lifecycle_stage", "").strip().lower() == "deleted":
            reading.left.append(f"{path}: {name}: the run was deleted in MLflow")
            continue
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
