"""Reading the store: read-only, kept open until the file is another. Every failure is a sentence with its remedy."""

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pandas as pd

from analysis.core.errors import StoreError, StoreLocked
from analysis.store.paths import store_path

REBUILD = "Run: python -m analysis sync --rebuild (nothing is lost: the files under data/ are the truth)"
LOCK_SECONDS = 5.0
LOCKED = "could not set lock on file"
"""How DuckDB says it; the word alone may stand in a path."""
DAMAGED = (duckdb.IOException, duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException)
REFUSED = "Queries may read the tables and views of the store, nothing else; SHOW TABLES lists them."

# Opening takes longer than most queries, so what was opened last stays open until the file is another one. DuckDB
# keeps one database per path alive in a process as long as a connection to it lives: were the file replaced
# meanwhile, new connections would still see the old data; so reads and replacements take turns.
_turn = threading.RLock()
_kept: dict[tuple[str, int, int, int], duckdb.DuckDBPyConnection] = {}
"""Path, inode, time of change and size of the file -> its connection; one or none."""


@contextmanager
def connect(path: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection that can reach no other file and no network."""
    path = path or store_path()
    with _turn:
        cursor = _opened(path).cursor()
        try:
            yield cursor
        finally:
            cursor.close()


@contextmanager
def closed() -> Iterator[None]:
    """Meanwhile this process does not have a store open: for whoever replaces or attaches one."""
    with _turn:
        _close()
        yield


def _close() -> None:
    while _kept:
        _kept.popitem()[1].close()


def _opened(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        now = path.stat()
    except OSError:
        now = None
    if now is None or not path.is_file():
        _close()
        raise StoreError(f"There is no store at {path}. Run: python -m analysis sync")
    key = (str(path), now.st_ino, now.st_mtime_ns, now.st_size)
    if key not in _kept:
        _close()
        _kept[key] = _open(path)
    return _kept[key]


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        except duckdb.Error as refused:
            if LOCKED in str(refused).lower():
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
                raise StoreLocked(
                    f"The store {path} is locked by another process that writes to it. "
                    "Try again in a moment, or close that process."
                ) from None
            if _is_damage(refused):
                raise StoreError(_damaged(path)) from None
            raise StoreError(f"The store {path} could not be opened ({refused}). {REBUILD}.") from None


def query(sql: str, parameters: Sequence[object] = (), path: Path | None = None) -> pd.DataFrame:
    """The rows of one SELECT. Parameters stand for the question marks in `sql`.

    Raises StoreError where there is no store, or where it does not take the query.
    """
    with connect(path) as connection:
        try:
            # An empty statement gives None.
            result = connection.execute(sql, list(parameters))
            if not result:
                raise StoreError("The query is empty; expected one SELECT over the store's tables and views.")
            return result.df()
        except duckdb.CatalogException as unknown:
            raise StoreError(
                f"{_sentence(unknown)} SHOW TABLES lists what there is. "
                f"{REBUILD}, if this Addend is newer than the store."
            ) from None
        except duckdb.PermissionException as refused:
            raise StoreError(f"The query was refused: {_sentence(refused)}. {REFUSED}") from None
        except duckdb.InvalidInputException as refused:
            advice = f" {REFUSED}" if "read-only" in str(refused) else ""
            raise StoreError(f"The query was refused: {_sentence(refused)}{advice}") from None
        except duckdb.Error as refused:
            if _is_damage(refused):
                _close()
                raise StoreError(_damaged(path or store_path())) from None
            raise StoreError(f"The query failed: {_sentence(refused)}") from None


def _is_damage(error: duckdb.Error) -> bool:
    # A wrong checksum has no exception of its own.
    return isinstance(error, DAMAGED) or "corrupt database" in str(error).lower()


def _damaged(path: Path) -> str:
    return f"The store {path} is damaged or not a DuckDB file. {REBUILD}."


def _sentence(error: Exception) -> str:
    """DuckDB's message with the names it proposes, without the quoted SQL under it."""
    return " ".join(str(error).split("\n\nLINE ")[0].split())
