"""Builds the store from the files: whole, beside the old one, which it then replaces in one step.

A store is current when its fingerprint equals that of the files, the schema and the dimension tables.
"""

import csv
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from filelock import FileLock, Timeout

from analysis.errors import StoreError
from analysis.provenance import git_sha, library_versions, now
from analysis.store import files, read
from analysis.store.paths import data_folder, store_path

Rows = Sequence[Mapping[str, Any]]
SCHEMA = Path(__file__).parent / "schema"
LOCK_SECONDS = 60.0
PUBLISHED = "published"
PROBE_SET = "probe_set"


@dataclass(frozen=True)
class Report:
    """What a sync did."""

    path: Path
    rebuilt: bool
    counts: dict[str, int]
    problems: list[tuple[str, str]]


def schema_version() -> int:
    """The number of the newest migration."""
    return max(int(path.name.split("_")[0]) for path in SCHEMA.glob("*.sql"))


def fingerprint(dimensions: Mapping[str, Rows]) -> str:
    """Changes whenever a file, the schema or a dimension table does."""
    digest = hashlib.sha256()
    for migration in sorted(SCHEMA.glob("*.sql")):
        digest.update(migration.read_bytes())
    digest.update(json.dumps(dimensions, sort_keys=True, default=str).encode())
    for path in [*files.results_files(), *_text_files()]:
        stat = path.stat()
        digest.update(f"{path.relative_to(data_folder())} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def stored_fingerprint(path: Path) -> str | None:
    """The fingerprint a store was built with; None where it cannot be read or is of another schema.

    Raises StoreError for a store that a newer Addend wrote, or that another process holds.
    """
    if not path.is_file():
        return None
    try:
        found = read.query("SELECT schema_version, fingerprint FROM meta", path=path)
    except StoreError as unreadable:
        if "locked" in str(unreadable):
            raise
        return None
    version = int(found.schema_version[0])
    if version > schema_version():
        raise StoreError(
            f"The store {path} was written by a newer Addend (schema {version}, this one knows {schema_version()}). "
            f"Update Addend, or rebuild the store for this version. {read.REBUILD}."
        )
    return str(found.fingerprint[0])


def sync(dimensions: Mapping[str, Rows], *, rebuild: bool = False) -> Report:
    """Brings the store up to date. Does nothing when it is; on any failure the old store stays.

    dimensions: table name -> rows, for the tables that come from registries.
    rebuild: build anew even when it is current, unreadable, or written by a newer Addend.
    """
    path = store_path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
            wanted = fingerprint(dimensions)
            if not rebuild and stored_fingerprint(path) == wanted:
                return Report(path, False, {}, _stored_problems(path))
            return _build(path, dimensions, wanted)
    except Timeout:
        raise StoreError(
            f"Another process has been building the store {path} for {LOCK_SECONDS:.0f} s. Wait, or end that process."
        ) from None
    except OSError as refused:
        raise StoreError(
            f"The store {path} could not be written ({refused.strerror or refused}). Free space or make the folder "
            "writable, or set ADDEND_STORE to a path that is."
        ) from None


def _build(path: Path, dimensions: Mapping[str, Rows], wanted: str) -> Report:
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".building-") as folder:
        built = Path(folder) / "addend.duckdb"
        connection = duckdb.connect(str(built))
        problems: list[tuple[str, str]] = []
        try:
            for migration in sorted(SCHEMA.glob("*.sql")):
                connection.execute(migration.read_text(encoding="utf-8"))
            for table, rows in dimensions.items():
                _insert(connection, table, rows)
            _insert_published(connection, problems)
            _insert_probe_set(connection)
            _insert_results(connection, problems)
            _insert(connection, "problems", [{"file": file, "problem": problem} for file, problem in problems])
            about = {
                "schema_version": schema_version(),
                "fingerprint": wanted,
                "built": now(),
                "git_sha": git_sha(),
                "versions": library_versions(),
            }
            _insert(connection, "meta", [about])
            tables = [row[0] for row in connection.execute("SHOW TABLES").fetchall()]
            counts = {table: connection.execute(f'SELECT count(*) FROM "{table}"').fetchall()[0][0] for table in tables}
        finally:
            connection.close()
        with read.in_process:
            os.replace(built, path)
            Path(f"{path}.wal").unlink(missing_ok=True)
    return Report(path, True, counts, problems)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: Rows | pa.Table) -> None:
    if len(rows):
        incoming = rows if isinstance(rows, pa.Table) else pa.Table.from_pylist([dict(row) for row in rows])
        connection.register("incoming", incoming)
        connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM incoming')
        connection.unregister("incoming")


def _insert_results(connection: duckdb.DuckDBPyConnection, problems: list[tuple[str, str]]) -> None:
    seen: set[str] = set()
    for path in files.results_files():
        name = str(path.relative_to(data_folder()))
        try:
            kind, table, run = files.read(path)
            if run["run_id"] in seen:
                raise StoreError(f"{path.name} repeats the run {run['run_id']} of another file. Remove one of them.")
        except StoreError as problem:
            problems.append((name, str(problem)))
            continue
        seen.add(run["run_id"])
        config = run.pop("config", {})
        _insert(connection, "runs", [{**run, "file": name, "config": json.dumps(config)}])
        if kind == "probe":
            _insert_probe(connection, table, run, config)
        else:
            _insert(connection, kind, table.append_column("run_id", pa.array([run["run_id"]] * len(table))))


def _insert_probe(
    connection: duckdb.DuckDBPyConnection, heads: pa.Table, run: Mapping[str, Any], config: Mapping[str, Any]
) -> None:
    shared = {key: run[key] for key in ("run_id", "model", "revision", "device", "dtype", "created", "seconds")}
    row = {**config, **shared, "probe_id": run["run_id"], "tokens": json.dumps(config["tokens"])}
    _insert(connection, "probes", [row])
    _insert(connection, "probe_heads", heads.append_column("probe_id", pa.array([run["run_id"]] * len(heads))))


def _text_files() -> list[Path]:
    folder = data_folder()
    found = [
        *folder.glob(f"{PUBLISHED}/**/*.csv"),
        *folder.glob(f"{PUBLISHED}/*.bib"),
        *folder.glob(f"{PROBE_SET}/*.csv"),
    ]
    return sorted(found)


def _csv(path: Path) -> list[dict[str, str | None]]:
    """Rows of a CSV file, all as text; empty cells are None."""
    with path.open(newline="", encoding="utf-8") as file:
        return [{key: value or None for key, value in row.items()} for row in csv.DictReader(file)]


def _insert_published(connection: duckdb.DuckDBPyConnection, problems: list[tuple[str, str]]) -> None:
    folder = data_folder() / PUBLISHED
    for table in ("papers", "caveats", "metrics", "variants"):
        if (folder / f"{table}.csv").is_file():
            _insert(connection, table, _csv(folder / f"{table}.csv"))
    connection.execute(
        "INSERT INTO tasks SELECT task, any_value(task_title), bool_or(glue) FROM metrics GROUP BY task ORDER BY task"
    )
    if (folder / "citations.bib").is_file():
        entries = re.split(r"\n(?=@)", (folder / "citations.bib").read_text(encoding="utf-8"))
        found = [(match[1], entry.strip()) for entry in entries if (match := re.match(r"\s*@\w+\{([^,\s]+),", entry))]
        _insert(connection, "citations", [{"citation_key": key, "bibtex": entry} for key, entry in found])
    figures: list[dict[str, Any]] = []
    for path in sorted((folder / "figures").glob("*.csv")):
        for line, row in enumerate(_csv(path), start=2):
            try:
                figures.append(
                    {
                        "row_number": len(figures),
                        "file": path.name,
                        "paper": row["paper"],
                        "arxiv": row["arxiv"],
                        "year": int(row["year"]) if row["year"] else None,
                        "table_name": row["table"],
                        "variant": row["variant"],
                        "steps": row["steps"],
                        "setting": row["setting"],
                        "task": row["task"],
                        "metric": row["metric"],
                        "value": float(row["value"]) if row["value"] else None,
                        "sd": float(row["sd"]) if row["sd"] else None,
                        "printed": row["text"] or row["value"],
                        "transcribed_from": row["transcribed_from"],
                    }
                )
            except (KeyError, ValueError) as wrong:
                problems.append((f"{PUBLISHED}/figures/{path.name}", f"line {line}: {wrong}; the row is left out."))
    _insert(connection, "published", figures)


def _insert_probe_set(connection: duckdb.DuckDBPyConnection) -> None:
    folder = data_folder() / PROBE_SET
    rows = [row for path in sorted(folder.glob("*.csv")) for row in _csv(path)]
    texts = [
        {
            "corpus": PROBE_SET,
            "text_id": r["id"],
            "category": r["category"],
            "text": r["text"],
            "text_pair": r.get("text_pair"),
        }
        for r in rows
    ]
    _insert(connection, "corpora", texts)


def _stored_problems(path: Path) -> list[tuple[str, str]]:
    return [(str(file), str(problem)) for file, problem in read.query("SELECT * FROM problems", path=path).values]
