"""How long Home takes to be on screen with its answer and its picture, in a real browser.

    python -m tests.benchmarks.home [--starts 3] [--write]

First visits: the server has just started, and no store is built (as in a fresh clone), or one is. Then later visits in
fresh profiles; every other page, opened anew in one profile, once to fill the caches and then timed; and what Streamlit
alone takes to show a page with one line of text. Budgets: 2 s for Home, 1 s for the other pages over Streamlit alone.
"""

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.app.shown import PAGES
from tests.benchmarks.cold import HERO
from tests.benchmarks.machine import Table, against

ROOT = Path(__file__).parents[2]
BUDGET_SECONDS, PAGE_SECONDS = 2.0, 1.0
VISITS = 5
WARM_UP_SECONDS = 20  # In which a server that has just started loads PyTorch and the default model.
TITLE = "[data-testid=stMain] h1"
AT_REST = "document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')"


def serve(script: Path, store: Path) -> tuple[subprocess.Popen, str]:
    """Starts Streamlit on a free port and waits until it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", str(script), f"--server.port={port}", "--server.headless=true"],
        cwd=ROOT,
        env={**os.environ, "ADDEND_STORE": str(store)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while True:
        try:
            urllib.request.urlopen(f"http://localhost:{port}/_stcore/health", timeout=1)
            return process, f"http://localhost:{port}"
        except OSError:
            time.sleep(0.05)


def visits(address: str, wanted: str, count: int) -> list[float]:
    """Seconds from opening the address in a fresh profile until what is wanted is visible."""
    taken = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or playwright.chromium.executable_path,
            args=["--no-sandbox", "--disable-background-networking"],
        )
        for _ in range(count):
            page = browser.new_context(viewport={"width": 1360, "height": 1000}).new_page()
            started = time.perf_counter()
            page.goto(address)
            page.locator(wanted).first.wait_for()
            taken.append(time.perf_counter() - started)
            page.context.close()
        browser.close()
    return taken


def pages(address: str) -> dict[str, float]:
    """Seconds of every page but Home, from opening it to its script's end, the second time that it is opened."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        page.set_default_timeout(120_000)
        for path in PAGES:
            _opened(page, f"{address}/{path}")
        taken = {path: _opened(page, f"{address}/{path}") for path in PAGES if path}
        browser.close()
    return taken


def _opened(page: Page, address: str) -> float:
    started = time.perf_counter()
    page.goto(address)
    page.locator(TITLE).first.wait_for()
    page.wait_for_function(AT_REST)
    return time.perf_counter() - started


def first_visit(store: Path) -> float:
    """Seconds of the first visit to a server that has just started."""
    process, address = serve(ROOT / "dashboard" / "app.py", store)
    try:
        return visits(address, HERO, 1)[0]
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table("home", f"home --starts {asked.starts}")
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "plain.py"
        plain.write_text("import streamlit as st\nst.title('plain')\n")
        process, address = serve(plain, Path(folder) / "none.duckdb")
        floor = statistics.median(visits(address, TITLE, VISITS))
        process.terminate()
        table.say(f"plain Streamlit, later visits    {floor:5.2f} s")
        for name, built in (("no store", False), ("store built", True)):
            taken = []
            for number in range(asked.starts):
                store = Path(folder) / f"{built}{number}.duckdb"
                if built:
                    environment = {**os.environ, "ADDEND_STORE": str(store)}
                    command = [sys.executable, "-m", "analysis", "sync"]
                    subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)
                taken.append(first_visit(store))
            median = statistics.median(taken)
            said = f"{median / BUDGET_SECONDS:.2f} of {BUDGET_SECONDS:g} s, {against(median, BUDGET_SECONDS)}"
            table.say(f"first visit, {name:12}        {median:5.2f} s   {said}; {max(taken):.2f} s at most")
        process, address = serve(ROOT / "dashboard" / "app.py", store)
        visits(address, HERO, 1)
        time.sleep(WARM_UP_SECONDS)
        later = statistics.median(visits(address, HERO, VISITS))
        table.say(f"later visits                     {later:5.2f} s   {later / floor:.2f} times plain Streamlit")
        for path, seconds in pages(address).items():
            over = seconds - floor
            table.say(f"{path:16} {seconds:5.2f} s   {over:5.2f} s over plain: {against(over, PAGE_SECONDS)}")
        process.terminate()
    table.close(asked.write)


if __name__ == "__main__":
    main()
