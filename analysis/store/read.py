"""Reading the store: open read-only, ask, close. Every failure is a sentence that names the remedy."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from analysis.errors import StoreError
from analysis.store.paths import store_path

REBUILD = "Run: python -m analysis sync --rebuild (nothing is lost: the files under data/ are the truth)"
LOCK_SECONDS = 5.0

# DuckDB keeps one database per path alive in a process as long as a connection to it lives. Were the file
# replaced meanwhile, new connections would still see the old data; so reads and replacements take turns.
in_process = threading.RLock()


@contextmanager
def connect(path: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection that can reach no other file and no network."""
    path = path or store_path()
    if not path.is_file():
        raise StoreError(f"There is no store at {path}. Run: python -m analysis sync")
    with in_process:
        connection = _open(path)
        try:
            yield connection
        finally:
            connection.close()


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        except duckdb.Error as refused:
            if "lock" in str(refused).lower():
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
                raise StoreError(
                    f"The store {path} is locked by another process that writes to it. "
                    "Try again in a moment, or close that process."
                ) from None
            if isinstance(refused, duckdb.IOException | duckdb.SerializationException | duckdb.InternalException):
                raise StoreError(f"The store {path} is damaged or not a DuckDB file. {REBUILD}.") from None
            raise StoreError(f"The store {path} could not be opened ({refused}). {REBUILD}.") from None


def query(sql: str, parameters: Sequence[Any] = (), path: Path | None = None) -> pd.DataFrame:
    """The rows of one SELECT. Parameters stand for the question marks in `sql`."""
    with connect(path) as connection:
        try:
            return connection.execute(sql, list(parameters)).df()
        except duckdb.CatalogException as unknown:
            raise StoreError(f"{_first_line(unknown)} If the store is older than this Addend: {REBUILD}.") from None
        except duckdb.Error as refused:
            raise StoreError(f"The query failed: {_first_line(refused)}") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
