"""How long the store takes: every query that pages make, a sync that builds, one that finds nothing to do.

    python -m tests.benchmarks.store

Pages run once, unseen, to learn what they ask; each of their queries is then put to the store anew, opening and
closing it as they do, and the median is set against its budget of 50 ms. Uses a store of its own.
"""

import logging
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.testing.v1 import AppTest

from analysis import store_build
from analysis.store import read
from tests.app.shown import PAGES

ROOT = Path(__file__).parents[2]
BUDGET_MS = 50.0
TIMES = 15
SHOWN = 70


def asked_by(page: str) -> list[tuple[str, tuple]]:
    """The queries of one page as it first opens; of Look inside, with a saved probe."""
    asked: list[tuple[str, tuple]] = []
    query = read.query

    def note(sql: str, parameters=(), path: Path | None = None):
        asked.append((sql, tuple(parameters)))
        return query(sql, parameters, path)

    read.query = note
    st.cache_data.clear()
    st.cache_resource.clear()
    try:
        app = AppTest.from_file(str(ROOT / "dashboard/app.py"), default_timeout=60)
        if page:
            app.switch_page(f"views/{page}.py")
        if page == "inside":
            app.query_params["probe"] = "example-agreement"
        app.run()
        assert not app.exception, app.exception
    finally:
        read.query = query
    return list({repr(one): one for one in asked}.values())


def milliseconds(act: Callable[[], object], times: int = TIMES) -> list[float]:
    """Of each of some times, after one that is not counted."""
    act()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        act()
        taken.append(1e3 * (time.perf_counter() - started))
    return taken


def main() -> None:
    """Prints one line a query, and what the store takes."""
    logging.disable(logging.WARNING)  # Streamlit misses its server.
    with tempfile.TemporaryDirectory() as folder:
        os.environ["ADDEND_STORE"] = str(Path(folder) / "addend.duckdb")
        report = store_build.refresh()
        rows = sum(report.counts.values())
        print(f"store: {report.path.stat().st_size / 2**20:.1f} MiB, {rows:,} rows in tables and views")
        print(
            f"sync that builds: {statistics.median(milliseconds(lambda: store_build.refresh(rebuild=True), 5)):.0f} ms"
        )
        print(f"sync that finds nothing to do: {statistics.median(milliseconds(store_build.refresh)):.0f} ms")
        print(f"open, ask nothing, close: {statistics.median(milliseconds(lambda: read.query('SELECT 1'))):.1f} ms")
        worst = 0.0
        for page in PAGES:
            for sql, parameters in asked_by(page):
                took = statistics.median(
                    milliseconds(lambda sql=sql, parameters=parameters: read.query(sql, parameters))
                )
                worst = max(worst, took)
                print(f"{page or 'home':>10}  {took:6.1f} ms  {' '.join(sql.split())[:SHOWN]}")
        print(f"slowest: {worst:.1f} ms, {worst / BUDGET_MS:.2f} of the budget of {BUDGET_MS:.0f} ms")


if __name__ == "__main__":
    main()
