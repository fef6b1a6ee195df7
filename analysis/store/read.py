"""Reading the store: read-only, kept open until the file is another. Every failure is a sentence with its remedy."""

import threading
import time
from collections.abc import Iterator, Sequence, Sized
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pandas as pd

from analysis.core.errors import StoreError, StoreLocked
from analysis.store.paths import cached_until_store_changes, store_path

REBUILD = "Run: python -m analysis sync --rebuild (nothing is lost: the files under data/ are the truth)"
LOCK_SECONDS = 5.0
LOCK_MESSAGE = "could not set lock on file"
"""DuckDB's wording; "lock" alone may be part of a path."""
DAMAGE_ERRORS = (duckdb.IOException, duckdb.SerializationException, duckdb.InternalException, duckdb.FatalException)
KEPT_ANSWERS = 256
"""More than a page asks for, so that no page asks for the same twice."""
READ_ONLY_HINT = "Queries may read the tables and views of the store, nothing else; SHOW TABLES lists them."

# Opening takes longer than most queries, so what was opened last stays open until the file is another one. DuckDB
# keeps one database per path alive in a process as long as a connection to it lives: were the file replaced
# meanwhile, new connections would still see the old data; so reads and replacements take turns.
_lock = threading.RLock()
_connections: dict[tuple[str, int, int, int], duckdb.DuckDBPyConnection] = {}
"""Path, inode, time of change and size of the file -> its connection; one or none."""


@contextmanager
def connect(path: Path | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """A read-only connection that can reach no other file and no network."""
    path = path or store_path()
    with _lock:
        cursor = _cached_connection(path).cursor()
        try:
            yield cursor
        finally:
            cursor.close()


@contextmanager
def connections_closed() -> Iterator[None]:
    """Keeps every store of this process closed during the block, so that a file can be replaced or attached."""
    with _lock:
        _close()
        yield


def _close() -> None:
    while _connections:
        _connections.popitem()[1].close()


def _cached_connection(path: Path) -> duckdb.DuckDBPyConnection:
    try:
        stat = path.stat()
    except OSError:
        stat = None
    if stat is None or not path.is_file():
        _close()
        raise StoreError(f"There is no store at {path}. Run: python -m analysis sync")
    key = (str(path), stat.st_ino, stat.st_mtime_ns, stat.st_size)
    if key not in _connections:
        _close()
        _connections[key] = _open(path)
    return _connections[key]


def _open(path: Path) -> duckdb.DuckDBPyConnection:
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            return duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        except duckdb.Error as error:
            if LOCK_MESSAGE in str(error).lower():
                if time.monotonic() < deadline:
                    time.sleep(0.1)
                    continue
                raise StoreLocked(
                    f"The store {path} is locked by another process that writes to it. "
                    "Try again in a moment, or close that process."
                ) from None
            if _is_damage(error):
                raise StoreError(_damage_message(path)) from None
            raise StoreError(f"The store {path} could not be opened ({error}). {REBUILD}.") from None


def placeholders(values: Sized) -> str:
    """The parameters of a list in SQL, one for each value: `?, ?`; NULL, which matches nothing, where there is none."""
    return ", ".join("?" * len(values)) or "NULL"


def query(sql: str, parameters: Sequence[object] = (), path: Path | None = None) -> pd.DataFrame:
    """The rows of one SELECT. Parameters stand for the question marks in `sql`.

    The last answers of the store in use are kept until it changes; those of another store, at `path`, are not. Raises
    StoreError where there is no store, or where it does not take the query.
    """
    if path is not None:
        return _ask(sql, parameters, path)
    hashable = tuple(tuple(value) if isinstance(value, list) else value for value in parameters)
    # A shallow copy: pandas copies a column when one of the frames that share it is written to.
    return _kept(sql, hashable, tuple(map(type, parameters))).copy(deep=False)


def query_if_stored(sql: str, parameters: Sequence[object], columns: Sequence[str]) -> pd.DataFrame:
    """The rows of one SELECT; none, with these columns, where there is no store: a live run needs none.

    Raises StoreError for a store that cannot be read, or does not take the query.
    """
    return query(sql, parameters) if store_path().is_file() else pd.DataFrame(columns=list(columns))


@cached_until_store_changes(KEPT_ANSWERS)
def _kept(sql: str, parameters: tuple[object, ...], _: tuple[type, ...]) -> pd.DataFrame:
    # The types are a part of the key, since 1, 1.0 and True are the same key of a cache.
    return _ask(sql, [list(value) if isinstance(value, tuple) else value for value in parameters], None)


def _ask(sql: str, parameters: Sequence[object], path: Path | None) -> pd.DataFrame:
    with connect(path) as connection:
        try:
            # An empty statement gives None.
            result = connection.execute(sql, list(parameters))
            if not result:
                raise StoreError("The query is empty; expected one SELECT over the store's tables and views.")
            return result.df()
        except duckdb.CatalogException as error:
            raise StoreError(
                f"{_message(error)} SHOW TABLES lists what there is. {REBUILD}, if this Addend is newer than the store."
            ) from None
        except duckdb.PermissionException as error:
            raise StoreError(f"The query was refused: {_message(error)}. {READ_ONLY_HINT}") from None
        except duckdb.InvalidInputException as error:
            hint = f" {READ_ONLY_HINT}" if "read-only" in str(error) else ""
            raise StoreError(f"The query was refused: {_message(error)}{hint}") from None
        except duckdb.Error as error:
            if _is_damage(error):
                _close()
                raise StoreError(_damage_message(path or store_path())) from None
            raise StoreError(f"The query failed: {_message(error)}") from None


def _is_damage(error: duckdb.Error) -> bool:
    # A wrong checksum has no exception of its own.
    return isinstance(error, DAMAGE_ERRORS) or "corrupt database" in str(error).lower()


def _damage_message(path: Path) -> str:
    return f"The store {path} is damaged or not a DuckDB file. {REBUILD}."


def _message(error: Exception) -> str:
    """DuckDB's message with the names it proposes, without the quoted SQL under it."""
    return " ".join(str(error).split("\n\nLINE ")[0].split())


def corpus_texts(corpus: str) -> list[tuple[str, str | None]]:
    """The texts of a stored corpus in their order, each with its second text, or None for a text alone."""
    rows = query("SELECT text, text_pair FROM corpora WHERE corpus = ? ORDER BY text_id", [corpus])
    return [(text, pair if isinstance(pair, str) else None) for text, pair in rows.to_numpy()]
