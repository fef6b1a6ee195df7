"""Projects of Trackio: its SQLite file (PROJECT.db), or the Parquet files that it exports.

The database has a table of metrics (run_id, timestamp, run_name, step, and the metrics as JSON) and one of configs.
Parquet has a column per metric in PROJECT.parquet and per setting in PROJECT_configs.parquet; a static page has
metrics.parquet and aux/configs.parquet. Databases of before run_id tell runs by their name. Layout: Trackio 0.43,
trackio/sqlite_storage.py. A run that is deleted there leaves no row.
"""

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from analysis.core.errors import AddendError
from analysis.imports.curves import Point
from analysis.imports.limits import MAX_ROWS
from analysis.imports.reader import READERS, BadRow, ExtractedRows, Files, Reader, UserMetadata
from analysis.imports.tables import parquet_rows, parquet_schema
from analysis.imports.texts import UnreadableFile, disguise
from analysis.imports.tracking_logs import STEPS, LoggedRun, add_run, finite_or_not

SQLITE = b"SQLite format 3\0"
WAL_VERSIONS = slice(18, 20)
"""The bytes of a database's head that say that changes are in a file beside it (2) or in itself (1)."""
STRUCTURE = {"id", "run_id", "timestamp", "run_name", "step", "log_id", "space_id", "created_at"}
"""The columns of its tables that hold neither metrics nor settings."""
METRICS, CONFIGS = {"timestamp", "run_name", "step"}, {"run_name", "created_at"}
"""The columns by which Parquet files of metrics and of settings are known."""
BESIDE = re.compile(
    r"(?:_|^)(system|system_metrics|traces|artifacts|artifact_versions|artifact_aliases|run_artifact_links)$"
)
"""The ends of the names of its other Parquet files; none holds results."""
Rows = Iterable[Mapping[str, Any]]


def read(files: Files, metadata: UserMetadata) -> ExtractedRows:
    """Every .db file, and the Parquet files with Trackio's columns; an export beside its database is left."""
    reading = ExtractedRows()
    parquets: dict[str, list[str]] = {}
    for path, content in files.items():
        if path.lower().endswith(".db-wal"):
            reading.used.add(path)
            if content:
                problem = "holds what is not in its database yet; end the program that writes it, or run: sqlite3 "
                reading.bad.append(BadRow(path, None, f"{problem}{_name(path)[:-4]} 'PRAGMA wal_checkpoint(TRUNCATE)'"))
        elif path.lower().endswith(".db"):
            reading.used.add(path)
            _database(path, content, metadata, reading)
        elif path.lower().endswith(".parquet"):
            try:
                parquets[path] = parquet_schema(content).names
            except UnreadableFile:
                continue  # The tidy reader reports the file.
    for path, columns in parquets.items():
        if set(columns) >= METRICS:
            reading.used.add(path)
            _export(path, columns, files, parquets, metadata, reading)
    _use_companions(files, parquets, reading)
    return reading


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _database(path: str, content: bytes, metadata: UserMetadata, reading: ExtractedRows) -> None:
    if not content.startswith(SQLITE):
        reading.bad.append(BadRow(path, None, f"{disguise(content) or 'is no SQLite database'}; expected Trackio's."))
        return
    # Kept in memory, a database cannot have a file of changes beside it.
    whole = bytearray(content)
    whole[WAL_VERSIONS] = b"\1\1"
    try:
        connection = sqlite3.connect(":memory:")
        try:
            connection.deserialize(bytes(whole))
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.row_factory = sqlite3.Row
            rows, configs = _table(connection, "metrics", "metrics"), _table(connection, "configs", "config")
        finally:
            connection.close()
    except AddendError as error:
        reading.bad.append(BadRow(path, None, f"{error}."))
    except (sqlite3.Error, OverflowError):
        problem = "is a damaged SQLite database; copy it again after its program has ended."
        reading.bad.append(BadRow(path, None, problem))
    else:
        _add_runs(path, rows, configs, metadata, reading)


def _table(connection: sqlite3.Connection, table: str, column: str) -> list[dict[str, Any]]:
    """The rows of a table, with the JSON of a column under "values". Raises AddendError for another layout."""
    known = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    if table not in known:
        raise AddendError(f"is an SQLite database without Trackio's table {table}; expected a project of Trackio")
    columns = {row["name"] for row in connection.execute(f"PRAGMA table_info({table})")}
    needed = {"run_name", column, *(["step", "timestamp"] if table == "metrics" else [])}
    if missing := sorted(needed - columns):
        raise AddendError(f"has a table {table} without the column {missing[0]}; expected Trackio's")
    found = connection.execute(f"SELECT * FROM {table} LIMIT {MAX_ROWS + 1}").fetchall()
    if len(found) > MAX_ROWS:
        raise AddendError(f"has more than {MAX_ROWS:,} rows of {table}; import its projects or runs in parts")
    rows = []
    for row in found:
        try:
            values = json.loads(row[column])
        except (ValueError, TypeError, RecursionError):
            values = None
        if not isinstance(values, dict):
            raise AddendError(f"has a row of {table}, run {str(row['run_name'])[:40]!r}, that is no JSON object")
        rows.append({**{key: row[key] for key in row.keys() if key != column}, "values": values})  # noqa: SIM118
    return rows


def _export(
    path: str,
    columns: list[str],
    files: Files,
    parquets: Mapping[str, list[str]],
    metadata: UserMetadata,
    reading: ExtractedRows,
) -> None:
    """The runs of a Parquet file of metrics, with the settings beside it."""
    stem = path[: -len(".parquet")]
    if f"{stem}.db" in files:
        reading.left.append(f"{path}: an export of {_name(stem)}.db, which is read itself")
        return
    folder = path[: -len(_name(path))]
    beside = (f"{stem}_configs.parquet", f"{folder}aux/configs.parquet" if _name(path) == "metrics.parquet" else "")
    configs = next((name for name in beside if name in parquets), None)
    try:
        rows = [_flat(row) for row in parquet_rows(files[path])]
        settings = [] if configs is None else [_flat(row) for row in parquet_rows(files[configs])]
    except UnreadableFile as error:
        reading.bad.append(BadRow(path, None, f"could not be read: it {error}."))
    except AddendError as error:
        reading.bad.append(BadRow(path, None, f"could not be read ({error})"))
    else:
        _add_runs(path, rows, settings, metadata, reading)


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of Parquet as one of a table: an empty cell is what a row does not say."""
    values = {key: value for key, value in row.items() if key not in STRUCTURE and value is not None}
    return {**{key: row[key] for key in row if key in STRUCTURE}, "values": values}


def _use_companions(files: Files, parquets: Mapping[str, list[str]], reading: ExtractedRows) -> None:
    """Marks what stands beside metrics that were read, and says what of it is left out."""
    for path, columns in parquets.items():
        folder = path[: -len(_name(path))]
        near = {folder, folder.removesuffix("aux/")}
        if path in reading.used or not any(used.startswith(tuple(near)) for used in reading.used):
            continue
        stem = _name(path)[: -len(".parquet")]
        if set(columns) >= CONFIGS and (stem == "configs" or stem.endswith("_configs")):
            reading.used.add(path)
        elif BESIDE.search(stem) and {"run_name", "run_id", "created_at", "artifact_id"} & set(columns):
            reading.used.add(path)
            reading.left.append(f"{path}: Trackio's {BESIDE.search(stem)[1]}, which are no results")  # type: ignore[index]
    folders = {path[: -len("metrics.parquet")] for path in reading.used if _name(path) == "metrics.parquet"}
    reading.used.update(f"{folder}{name}" for folder in folders for name in ("runs.json", "settings.json")
                        if f"{folder}{name}" in files)  # fmt: skip


def _add_runs(path: str, rows: Rows, configs: Rows, metadata: UserMetadata, reading: ExtractedRows) -> None:
    """Adds every run of a project."""
    settings = {_run(row): row["values"] for row in configs}
    runs: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        runs.setdefault(_run(row), []).append(row)
    for index, (run, logged) in enumerate(runs.items(), start=1):
        config = {
            key: value
            for key, value in settings.get(run, {}).items()
            if not key.startswith("_") or key == "_name_or_path"
        }
        name = str(logged[0]["run_name"])
        add_run(
            LoggedRun(
                file=path,
                line=index,
                name=name,
                settings={key: value for key, value in config.items() if isinstance(value, str | int | float)},
                series=_series(logged),
                places=dict.fromkeys({key for row in logged for key in row["values"]}, f"{path}, run {name}"),
            ),
            metadata,
            reading,
        )


def _run(row: Mapping[str, Any]) -> str:
    return str(row.get("run_id") or row["run_name"])


def _series(rows: list[Mapping[str, Any]]) -> dict[str, list[Point]]:
    """The values of every key, at the optimiser's step where a row says it, with seconds since the run's first row."""
    times = [_seconds(row["timestamp"]) for row in rows]
    began = min((time for time in times if time is not None), default=0.0)
    series: dict[str, list[Point]] = {}
    for row, time in zip(rows, times, strict=True):
        step = next((row["values"][key] for key in STEPS if row["values"].get(key) is not None), row["step"])
        for key, value in row["values"].items():
            if key not in STEPS and not isinstance(value, dict | list):
                point = Point(step, finite_or_not(value), None if time is None else time - began)
                series.setdefault(key, []).append(point)
    return series


def _seconds(timestamp: object) -> float | None:
    """An ISO time as seconds since 1970, None where it is none."""
    try:
        return datetime.fromisoformat(str(timestamp)).timestamp()
    except (ValueError, OverflowError):
        return None


READERS.add(
    "trackio",
    Reader(
        title="Trackio: a project's database, or its Parquet files",
        expects="PROJECT.db, or PROJECT.parquet with PROJECT_configs.parquet beside it",
        read=read,
    ),
)
