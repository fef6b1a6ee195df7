"""How long Home takes to be on screen with its answer and its picture, in a real browser.

    python -m tests.benchmarks.home [--starts 3] [--write]

First visits: the server has just started, and no store is built (as in a fresh clone), or one is. Then later visits in
fresh profiles; every other page, opened anew in one profile, once to fill the caches and then timed; and what Streamlit
alone takes to show a page with one line of text. Budgets: 2 s for Home, 1 s for the other pages over Streamlit alone.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from tests.app.shown import PAGES
from tests.benchmarks.cold import HERO
from tests.benchmarks.machine import APP, Table, against, chromium, large_page, served, synced

BUDGET_SECONDS, PAGE_SECONDS = 2.0, 1.0
VISITS = 5
WARM_UP_SECONDS = 20  # In which a server that has just started loads PyTorch and the default model.
TITLE = "[data-testid=stMain] h1"
AT_REST = "document.querySelector('[data-testid=stApp][data-test-script-state=notRunning]')"


def visits(address: str, wanted: str, count: int) -> list[float]:
    """Seconds from opening the address in a fresh profile until what is wanted is visible."""
    taken = []
    with chromium("--disable-background-networking") as browser:
        for _ in range(count):
            page = browser.new_context(viewport={"width": 1360, "height": 1000}).new_page()
            started = time.perf_counter()
            page.goto(address)
            page.locator(wanted).first.wait_for()
            taken.append(time.perf_counter() - started)
            page.context.close()
    return taken


def pages(address: str) -> dict[str, float]:
    """Seconds of every page but Home, from opening it to its script's end, the second time that it is opened."""
    with chromium() as browser:
        page = large_page(browser)
        for path in PAGES:
            _opened(page, f"{address}/{path}")
        return {path: _opened(page, f"{address}/{path}") for path in PAGES if path}


def _opened(page: Page, address: str) -> float:
    started = time.perf_counter()
    page.goto(address)
    page.locator(TITLE).first.wait_for()
    page.wait_for_function(AT_REST)
    return time.perf_counter() - started


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
        with served(str(plain), {"ADDEND_STORE": f"{folder}/none.duckdb"}) as server:
            floor = statistics.median(visits(server.address, TITLE, VISITS))
        table.say(f"plain Streamlit, later visits    {floor:5.2f} s")
        for name, built in (("no store", False), ("store built", True)):
            taken = []
            for number in range(asked.starts):
                store = Path(folder) / f"{built}{number}.duckdb"
                if built:
                    synced(store)
                with served(APP, {"ADDEND_STORE": str(store)}) as server:
                    taken += visits(server.address, HERO, 1)
            median = statistics.median(taken)
            said = f"{median / BUDGET_SECONDS:.2f} of {BUDGET_SECONDS:g} s, {against(median, BUDGET_SECONDS)}"
            table.say(f"first visit, {name:12}        {median:5.2f} s   {said}; {max(taken):.2f} s at most")
        with served(APP, {"ADDEND_STORE": str(store)}) as server:
            visits(server.address, HERO, 1)
            time.sleep(WARM_UP_SECONDS)
            later = statistics.median(visits(server.address, HERO, VISITS))
            table.say(f"later visits                     {later:5.2f} s   {later / floor:.2f} times plain Streamlit")
            for path, seconds in pages(server.address).items():
                over = seconds - floor
                table.say(f"{path:16} {seconds:5.2f} s   {over:5.2f} s over plain: {against(over, PAGE_SECONDS)}")
    table.close(asked.write)


if __name__ == "__main__":
    main()
