"""Builds the store from the files, next to the old one, which it then replaces in one step.

A store is current when its fingerprint equals that of the files, the schema and the dimension tables.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import duckdb
from filelock import FileLock, Timeout

from analysis.core.errors import StoreError, StoreLocked
from analysis.core.provenance import git_sha, library_versions, now
from analysis.store import files, fill, read
from analysis.store.fill import Judge, Rows
from analysis.store.kinds import table_statements
from analysis.store.paths import data_folder, store_path

SCHEMA = Path(__file__).parent / "schema"
LOCK_SECONDS = 60.0


@dataclass(frozen=True)
class Report:
    """The result of a sync."""

    path: Path
    rebuilt: bool
    problems: fill.Problems

    def counts(self) -> dict[str, int]:
        """Table or view of the store -> its number of rows."""
        tables = read.query("SHOW TABLES", path=self.path).name
        union = " UNION ALL ".join(f"SELECT '{table}' AS name, count(*) AS rows FROM \"{table}\"" for table in tables)
        counts = read.query(union, path=self.path)
        return dict(zip(counts.name, counts["rows"].astype(int), strict=True))


def schema_version() -> int:
    """The number of the newest migration."""
    return max(int(path.name.split("_")[0]) for path in SCHEMA.glob("*.sql"))


def schema_statements() -> Iterator[str]:
    """The SQL that makes an empty store: the first file, the tables and views of every kind, the other files."""
    first, *others = sorted(SCHEMA.glob("*.sql"))
    yield first.read_text(encoding="utf-8")
    yield from table_statements()
    for path in others:
        yield path.read_text(encoding="utf-8")


def fingerprint(dimensions: Mapping[str, Rows]) -> str:
    """Changes whenever a file, the schema or a dimension table does."""
    digest = hashlib.sha256()
    for statements in schema_statements():
        digest.update(statements.encode())
    digest.update(json.dumps(dimensions, sort_keys=True, default=str).encode())
    for path in [*files.results_files(), *_text_files()]:
        with suppress(FileNotFoundError):  # removed since it was listed
            stat = path.stat()
            digest.update(f"{path.relative_to(data_folder())} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def stored_fingerprint(path: Path | None = None) -> str | None:
    """The fingerprint a store was built with; None where it cannot be read or is of another schema.

    path: None for the store in use, which is asked once until it changes.
    Raises StoreError for a store that a newer Addend wrote, or that another process holds.
    """
    if not (path or store_path()).is_file():
        return None
    try:
        rows = read.query("SELECT schema_version, fingerprint FROM meta", path=path)
    except StoreLocked:
        raise
    except StoreError:
        return None
    if rows.empty:
        return None
    version = int(rows.schema_version[0])
    if version > schema_version():
        raise StoreError(
            f"The store {path or store_path()} was written by a newer Addend (schema {version}, this one knows "
            f"{schema_version()}). Update Addend, or rebuild the store for this version. {read.REBUILD}."
        )
    return str(rows.fingerprint[0])


def sync(dimensions: Mapping[str, Rows], *, judge: Judge | None = None, rebuild: bool = False) -> Report:
    """Brings the store up to date. Does nothing when it is; on any failure the old store stays.

    dimensions: table name -> rows, for the tables that come from registries.
    judge: computes further tables (name -> rows) with a query function on the store that is being built.
    rebuild: build anew even when it is current, unreadable, or written by a newer Addend.
    Raises StoreError for a store of a newer Addend, one that another process builds, or one that cannot be written.
    """
    path = store_path()

    def is_current() -> bool:
        return not rebuild and stored_fingerprint(path) == fingerprint(dimensions)

    try:
        # Checked before locking too: a current store can be read from a read-only folder.
        if not is_current():
            path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{path}.lock", timeout=LOCK_SECONDS):
                if not is_current():
                    return _build(path, dimensions, judge)
        return Report(path, False, _stored_problems(path))
    except Timeout:
        raise StoreError(
            f"Another process has been building the store {path} for {LOCK_SECONDS:.0f} s. Wait, or end that process."
        ) from None
    except (OSError, duckdb.Error) as error:
        raise StoreError(
            f"The store {path} could not be written ({getattr(error, 'strerror', None) or error}). "
            "Free space or make the folder writable, or set ADDEND_STORE to a path that is."
        ) from None


def _build(path: Path, dimensions: Mapping[str, Rows], judge: Judge | None) -> Report:
    unreadable = _is_unreadable(path)
    new_fingerprint = fingerprint(dimensions)
    problems: fill.Problems = []
    with _build_folder(path) as new_store:
        connection = duckdb.connect(str(new_store))
        try:
            with fill.transaction(connection):  # else each statement would wait for the disk
                for statements in schema_statements():
                    connection.execute(statements)
                for table, rows in dimensions.items():
                    fill.insert(connection, table, rows)
            fill.published(connection, problems)
            fill.probe_set(connection, problems)
            fill.results(connection, problems)
            fill.imported_names(connection)
            fill.fine_tunings(connection)
            fill.pretrainings(connection)
            if judge is not None:
                with fill.query_function(connection) as ask:
                    judged = judge(ask)
                for table, rows in judged.items():
                    fill.insert(connection, table, rows)
            fill.insert(connection, "problems", [{"file": file, "problem": problem} for file, problem in problems])
            meta = {"schema_version": schema_version(), "fingerprint": new_fingerprint, "built": now()}
            fill.insert(connection, "meta", [{**meta, "git_sha": git_sha(), "versions": library_versions()}])
            # Closing does this too, but raises nothing when the disk is full: an empty store would replace the old one.
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        with read.connections_closed():
            if unreadable:
                os.replace(path, f"{path}.unreadable")
            os.replace(new_store, path)
            Path(f"{path}.wal").unlink(missing_ok=True)
    return Report(path, True, problems)


@contextmanager
def _build_folder(path: Path) -> Iterator[Path]:
    """A path in a temporary folder next to the store; the folder is removed afterwards."""
    folder = path.with_name(f".{path.name}.building")
    # A build that was killed leaves its folder behind. The lock is ours, so no living build's is removed.
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        yield folder / path.name
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _is_unreadable(path: Path) -> bool:
    """True if the file at the store's path cannot be read; it is then renamed, not replaced.

    Raises StoreError for a database of somebody else's, which ADDEND_STORE names by mistake.
    """
    if not path.is_file() or not path.stat().st_size:
        return False
    try:
        tables = set(read.query("SELECT table_name FROM duckdb_tables()", path=path).table_name)
    except StoreLocked:
        raise
    except StoreError:
        return True
    if tables and "meta" not in tables:
        raise StoreError(
            f"{path} is a database but not a store of ours (it has no table 'meta'), so it is left as it is. Set "
            "ADDEND_STORE to another path, or remove that file."
        )
    return False


def _text_files() -> list[Path]:
    patterns = (f"{fill.PUBLISHED}/**/*.csv", f"{fill.PUBLISHED}/*.bib", f"{fill.PROBE_SET}/*.csv")
    return sorted(path for pattern in patterns for path in data_folder().glob(pattern))


def _stored_problems(path: Path) -> list[tuple[str, str]]:
    return [(str(file), str(problem)) for file, problem in read.query("SELECT * FROM problems", path=path).values]
