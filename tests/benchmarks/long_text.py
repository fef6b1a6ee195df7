"""How long the maps of a new text take in a real browser, from the press that sends it to the first figure.

    python -m tests.benchmarks.long_text [--tokens 22 128 512] [--repeats 5] [--write]

A script, not a test. Each text is a new one, so that none is answered from memory; PyTorch and the model are warm.
Budget: 2 s for the median of the longest text that the embedded model takes; the rest is drawn on demand.
"""

import argparse
import statistics
import tempfile
import time

from playwright.sync_api import Page

from tests.benchmarks.large_maps import WORDS
from tests.benchmarks.machine import APP, Table, against, chromium, large_page, served

BUDGET_SECONDS = 2.0
WARM_UP = "the first text waits for PyTorch and the model"


def seconds_to_maps(page: Page, text: str) -> float:
    """Seconds from the press until every map is one of the new text."""
    page.get_by_label("Text", exact=True).fill(text)
    page.locator(".maps canvas").evaluate_all("(all) => all.forEach((one) => (one.dataset.old = 1))")
    started = time.perf_counter()
    page.get_by_role("button", name="Take apart").click()
    page.locator(".maps canvas:not([data-old])").first.wait_for(state="attached")
    page.locator(".maps canvas[data-old]").first.wait_for(state="detached")
    return time.perf_counter() - started


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[22, 128, 512])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    table = Table("long-text", f"long_text --tokens {' '.join(map(str, asked.tokens))} --repeats {asked.repeats}")
    with (
        tempfile.TemporaryDirectory() as folder,
        served(APP, {"ADDEND_STORE": f"{folder}/addend.duckdb"}) as server,
        chromium() as browser,
    ):
        page = large_page(browser)
        page.goto(f"{server.address}/inside")
        page.locator(".why h3").wait_for()
        seconds_to_maps(page, WARM_UP)
        for tokens in asked.tokens:
            taken = []
            for number in range(asked.repeats):
                words = [WORDS[(number + place) % len(WORDS)] for place in range(tokens - 2)]
                taken.append(seconds_to_maps(page, " ".join(words)))
            median = statistics.median(taken)
            budget = f"  {against(median, BUDGET_SECONDS)}" if tokens == max(asked.tokens) else ""
            table.say(f"{tokens:5} tokens: median {median:.2f} s, most {max(taken):.2f} s{budget}")
    table.close(asked.write)


if __name__ == "__main__":
    main()
