"""The copy of the store on which readers' queries run, without the probes that readers saved.

It is made anew when the store changes, each time in a folder of its own that goes when the process does.
"""

import atexit
import os
import shutil
import tempfile
import threading
from pathlib import Path

import duckdb
import psutil

from analysis.core.errors import StoreError
from analysis.store import read
from analysis.store.paths import store_path, version
from analysis.store.sync import schema_statements

PRIVATE = {"saved_probes": "VIEW", "probe_heads": "TABLE", "probes": "TABLE"}
"""Tables and views with readers' texts or probe names, in an order in which they can be dropped."""
PUBLIC_ROWS = {"runs": "kind <> 'probe'", "problems": "file NOT LIKE 'probes/%'"}
"""The rows that are copied of tables that also describe saved probes."""
NAME = "store.duckdb"
PREFIX = "addend-sql-"
"""Begins the name of a copy's folder; the number of the process follows."""

_lock = threading.Lock()
_copies: list[tuple[tuple[str, int, int], Path]] = []


def _remove_stale(parent: Path) -> None:
    """Removes the copies of processes that were killed, which could not remove them themselves."""
    for stale in parent.glob(f"{PREFIX}*"):
        pid = stale.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(stale, ignore_errors=True)


def folder() -> Path:
    """The folder of the copy of the store as it is now; the copy's name is `NAME`.

    Raises StoreError when there is no room for it.
    """
    with _lock:
        current = version()
        if not _copies or _copies[-1][0] != current or not (_copies[-1][1] / NAME).is_file():
            _copies.append((current, _copy_store()))
        # The previous copy stays: a query may be about to open it.
        while len(_copies) > 2:
            shutil.rmtree(_copies.pop(0)[1], ignore_errors=True)
        return _copies[-1][1]


def _copy_store() -> Path:
    try:
        _remove_stale(Path(tempfile.gettempdir()))
        target = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        atexit.register(shutil.rmtree, target, ignore_errors=True)
        with read.connections_closed():
            connection = duckdb.connect(str(target / NAME))
            try:
                _fill(connection)
            finally:
                connection.close()
    except (OSError, duckdb.Error) as error:
        # DuckDB's own message would reveal this machine's folders.
        reason = getattr(error, "strerror", None) or "DuckDB could not write it"
        raise StoreError(f"The store could not be copied to temporary files ({reason}). Free space there.") from None
    return target


def _fill(connection: duckdb.DuckDBPyConnection) -> None:
    for statements in schema_statements():
        connection.execute(statements)
    path = str(store_path()).replace("'", "''")
    connection.execute(f"ATTACH '{path}' AS original (READ_ONLY)")
    tables = connection.execute("SELECT table_name FROM duckdb_tables() WHERE database_name = 'original'").fetchall()
    for (table,) in tables:
        if table not in PRIVATE:
            condition = f" WHERE {PUBLIC_ROWS[table]}" if table in PUBLIC_ROWS else ""
            connection.execute(f'INSERT INTO "{table}" BY NAME SELECT * FROM original.main."{table}"{condition}')
    connection.execute("DETACH original")
    for name, kind in PRIVATE.items():
        connection.execute(f"DROP {kind} {name}")
    connection.execute("CHECKPOINT")
