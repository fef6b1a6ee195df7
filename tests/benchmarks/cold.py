"""How long a cold start takes: from starting the server's process to the first page, in seconds and processor seconds.

    python -m tests.benchmarks.cold [--starts 5] [--page PATH] [--imports] [--write]

A script, not a test. The store is built already, as in the image. Each start is a new process of the app, as at home:
`dashboard/server.py` answers nobody before everything is prepared (first_load.py measures it). A reader
without a browser (reader.py) knocks until it answers, and opens Home (or --page) at once. Then the same once more in
headless Chromium, where there is one, from starting the process to Home's answer and picture drawn. Python's files are
compiled and in the system's cache from the first start on, which is not counted. --imports: which imports take longest.
Budget: 3 s.
"""

import argparse
import asyncio
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.machine import ROOT, Table, against, answers, chromium, served, synced
from tests.benchmarks.reader import Reader

BUDGET_SECONDS = 3.0
HERO = "figure svg rect"
"""The moving picture of Home, drawn: it stands beside the answer."""


async def opened(address: str, page: str) -> float:
    """Seconds that the first page takes from connecting on."""
    started = time.perf_counter()
    async with Reader(address) as reader:
        shown = await reader.open(page)
    if shown.problems:
        raise SystemExit(shown.problems[0])
    return time.perf_counter() - started


def start(page: str, settings: dict[str, str]) -> tuple[float, float, float]:
    """Seconds until the server answers, until the first page is sent, and the server's processor seconds by then."""
    started = time.perf_counter()
    with served("dashboard/app.py", settings, wait=False) as server:
        answers(server)
        answered = time.perf_counter() - started
        asyncio.run(opened(server.address, page))
        return answered, time.perf_counter() - started, server.cpu_seconds()


def drawn(settings: dict[str, str]) -> float:
    """Seconds from starting the process to Home's picture in a browser that is open already."""
    with chromium() as browser:
        tab = browser.new_context(viewport={"width": 1360, "height": 1000}).new_page()
        started = time.perf_counter()
        with served("dashboard/app.py", settings, wait=False) as server:
            answers(server)
            tab.goto(server.address)
            tab.locator(HERO).first.wait_for(timeout=120_000)
            return time.perf_counter() - started


def imports() -> list[tuple[float, str]]:
    """Milliseconds that each import of the app takes, what it imports included, the longest first."""
    modules = "dashboard.server, dashboard.widgets.show, dashboard.session.current_store"
    code = f"import sys; sys.path.insert(0, '.'); import {modules}"
    done = subprocess.run([sys.executable, "-X", "importtime", "-c", code], cwd=ROOT, capture_output=True, text=True)
    lines = (re.match(r"import time:\s+\d+ \|\s+(\d+) \| (\s*)(\S+)", line) for line in done.stderr.splitlines())
    found = [(int(line[1]) / 1e3, line[3]) for line in lines if line]
    return sorted(found, reverse=True)


def main() -> None:
    """Prints one line a start."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--page", default="")
    parser.add_argument("--imports", action="store_true")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    if asked.imports:
        for milliseconds, name in imports()[:60]:
            print(f"{milliseconds:8.0f} ms  {name}")
        return
    table = Table("cold", f"cold --starts {asked.starts}" + (f" --page {asked.page}" if asked.page else ""))
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.duckdb"
        synced(store)
        settings = {"ADDEND_STORE": str(store)}
        start(asked.page, settings)
        table.say("start  answers s  page sent s  processor s")
        sent = []
        for number in range(asked.starts):
            answered, page, cpu = start(asked.page, settings)
            sent.append(page)
            table.say(f"{number + 1:5} {answered:10.2f} {page:12.2f} {cpu:12.2f}")
        median = statistics.median(sent)
        table.say(
            f"first page sent: median {median:.2f} s; budget {BUDGET_SECONDS:g} s: {against(median, BUDGET_SECONDS)}"
        )
        if shutil.which("chromium"):
            taken = statistics.median(drawn(settings) for _ in range(min(asked.starts, 3)))
            table.say(f"answer and picture drawn, Chromium: {taken:.2f} s; {against(taken, BUDGET_SECONDS)}")
        else:
            table.say("no Chromium on the path, so that nothing was drawn")
    table.close(asked.write)


if __name__ == "__main__":
    main()
