"""How long it takes from a press on a page's link until the page has stopped running, in a real browser.

    python -m tests.benchmarks.navigation [--rounds 5] [--write]

One reader opens Home and then goes round all pages by their links in the page, as a reader does who stays: the first
round fills the caches and is not counted. Budget: 1 s for the median of each page.
"""

import argparse
import statistics
import tempfile
import time

from playwright.sync_api import Page

from tests.app.shown import PAGES
from tests.benchmarks.home import AT_REST, PAGE_SECONDS, TITLE
from tests.benchmarks.machine import APP, Table, against, chromium, large_page, served

WARM_UP_SECONDS = 15.0
"""For PyTorch and the default model, which load in the background after the first page."""
PRESS = """(path) => {
  const same = (link) => new URL(link.href).pathname.replace(/\\/$/, "") === (path ? "/" + path : "");
  const link = [...document.querySelectorAll("a[href]")].find(same);
  if (link) link.click();
  return Boolean(link);
}"""
"""Presses the link to a page; false where the page that is open has none."""
ARRIVED = "(path) => location.pathname.replace(/^\\//, '') === path"


def seconds_to(page: Page, path: str, address: str) -> float:
    """Seconds until a page that is gone to has stopped running."""
    started = time.perf_counter()
    if not page.evaluate(PRESS, path):
        page.goto(f"{address}/{path}")
    page.wait_for_function(ARRIVED, arg=path)
    page.wait_for_timeout(50)  # The press has reached the server: what is at rest now is the page that was asked for.
    page.wait_for_function(AT_REST)
    page.locator(TITLE).first.wait_for()
    return time.perf_counter() - started


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table("navigation", f"navigation --rounds {asked.rounds}")
    taken: dict[str, list[float]] = {path: [] for path in PAGES}
    with (
        tempfile.TemporaryDirectory() as folder,
        served(APP, {"ADDEND_STORE": f"{folder}/addend.duckdb"}) as server,
        chromium() as browser,
    ):
        page = large_page(browser)
        page.goto(server.address)
        page.locator(TITLE).first.wait_for()
        time.sleep(WARM_UP_SECONDS)
        for number in range(asked.rounds + 1):
            for path in [*filter(None, PAGES), ""]:
                seconds = seconds_to(page, path, server.address)
                if number:
                    taken[path].append(seconds)
                time.sleep(0.3)
    for path, seconds in sorted(taken.items(), key=lambda entry: -statistics.median(entry[1])):
        median = statistics.median(seconds)
        share = median / PAGE_SECONDS
        table.say(
            f"{path or 'home':14} {median:5.2f} s   {share:.2f} of {PAGE_SECONDS:g} s, {against(median, PAGE_SECONDS)}"
        )
    table.close(asked.write)


if __name__ == "__main__":
    main()
