"""Runs a reader's query in a child process with limits, and caches the last answers."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections import OrderedDict
from dataclasses import asdict, dataclass
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa

from analysis.core.errors import QueryError, StoreError
from analysis.sql import public
from analysis.sql.limits import LIMITS, Limits
from analysis.store.paths import store_path, version

CHILD = Path(__file__).with_name("child.py")
ENVIRONMENT = {"LANG": "C.UTF-8", "TZ": "UTC", "MALLOC_ARENA_MAX": "1", "OMP_NUM_THREADS": "1"}
"""The child's whole environment: no path, no token."""

CACHE_SIZE = 8
"""The number of cached answers, each of at most `LIMITS.result_mib`."""

_slots = threading.BoundedSemaphore(LIMITS.at_once)
_conversion_lock = threading.Lock()
_cache: OrderedDict[tuple[object, ...], "Answer"] = OrderedDict()
_cache_lock = threading.Lock()


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """The rows of a query.

    table: as DuckDB gave them, flat: lists and structs are text. cut: "rows", "cells" or "size" where the result was
    longer than that limit and its end is left out; else "".
    """

    table: pa.Table
    cut: str

    @property
    def frame(self) -> pd.DataFrame:
        """The result as a frame. Sums of whole numbers, which DuckDB stores in 128 bits, stay whole where they fit.

        It takes many times the table's memory, so it is made anew each time, one at a time, and never kept.
        Raises QueryError for values that cannot be shown.
        """
        try:
            with _conversion_lock:
                return _without_decimals(self.table).to_pandas()
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise QueryError(
                f"The result holds values that cannot be shown ({error}). Cast that column to VARCHAR."
            ) from None


def cached_answer(sql: str, limits: Limits = LIMITS) -> Answer | None:
    """The answer to this query on today's store, where it is one of the last few."""
    if not store_path().is_file():
        return None
    with _cache_lock:
        return _cache.get((version(), sql, limits))


def ask(sql: str, limits: Limits = LIMITS) -> Answer:
    """The rows of one SELECT over the store without saved probes. The last few answers are kept.

    Raises QueryError, in one sentence, for a query that is refused, fails, or exceeds the limits; StoreError if there
    is no store.
    """
    if not sql.strip():
        raise QueryError("The query is empty; expected one SELECT over the tables and views listed on the page.")
    if len(sql) > limits.characters:
        raise QueryError(f"The query has {len(sql):,} characters; at most {limits.characters:,} are accepted.")
    if "\0" in sql:
        raise QueryError("The query holds a NUL character; expected text.")
    if not store_path().is_file():
        raise StoreError("There is no store yet. Run: python -m analysis sync")
    if cached := cached_answer(sql, limits):
        return cached
    key = (version(), sql, limits)  # As the store is before the query: a newer one is asked again.
    result = _ask_child(sql, limits)
    with _cache_lock:
        _cache[key] = result
        while len(_cache) > CACHE_SIZE:
            _cache.popitem(last=False)
    return result


def _ask_child(sql: str, limits: Limits) -> Answer:
    if not _slots.acquire(timeout=limits.wait_seconds):
        raise QueryError(f"{limits.at_once} queries of other readers are running. Try again in a moment.")
    try:
        header, rows = _run_child(sql, limits, public.folder())
    finally:
        _slots.release()
    if "error" in header:
        raise QueryError(header["error"])
    with pa.ipc.open_stream(rows) as stream:
        table = stream.read_all()
    return Answer(table=table, cut=header["cut"])


def _run_child(sql: str, limits: Limits, folder: Path) -> tuple[dict[str, str], bytes]:
    """The child's header and rows. The child has ended when this returns or raises."""
    request = {"store": public.NAME, "limits": asdict(limits), "packages": str(Path(duckdb.__file__).parents[1])}
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", str(CHILD), json.dumps(request)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=folder,
        env=ENVIRONMENT,
        start_new_session=True,
    )
    assert process.stdin
    assert process.stdout
    started = time.monotonic()
    timer = threading.Timer(limits.seconds, process.kill)
    timer.start()
    try:
        try:
            process.stdin.write(sql.encode("utf-8", "replace"))
            process.stdin.close()
        except BrokenPipeError:
            pass  # It ended before it read, which is reported below.
        byte_limit = (limits.result_mib << 20) * 2
        result = process.stdout.read(byte_limit + 1)
    finally:
        timer.cancel()
        process.kill()
        code = process.wait()
        process.stdout.close()
    line, newline, rows = result.partition(b"\n")
    if len(result) > byte_limit:
        raise QueryError(f"The result is larger than {limits.result_mib} MiB. Ask for fewer rows or columns.")
    if not newline:
        # The child ends by these signals at its own limits of time; the kill above is ours, so the clock decides.
        timed_out = time.monotonic() - started >= limits.seconds or -code in (signal.SIGXCPU, signal.SIGALRM)
        raise QueryError(
            f"The query took longer than {limits.seconds} s and was ended. Ask for less, or aggregate."
            if timed_out
            else f"The query needs more than {limits.memory_mib} MiB of memory or is nested too deeply, and was ended. "
            "Ask for less."
        )
    return json.loads(line), rows


def _without_decimals(table: pa.Table) -> pa.Table:
    for index, column in enumerate(table.schema):
        if pa.types.is_decimal(column.type):
            for target in (pa.int64(), pa.float64()) if column.type.scale == 0 else (pa.float64(),):
                try:
                    table = table.set_column(index, column.name, table.column(index).cast(target))
                    break
                except pa.ArrowInvalid:
                    continue  # Larger than 64 bits.
    return table
