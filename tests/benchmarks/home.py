"""How long Home takes to be on screen, in a real browser, as a ratio to its budget of 3 s.

    python -m tests.benchmarks.home

Prints the first visit after the server starts (store built already), then the median of later visits
in fresh profiles, and what Streamlit alone takes to show a page with one line of text.
"""

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

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[2]
BUDGET_SECONDS = 3.0
VISITS = 7


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
    """Seconds from opening the address in a fresh profile until everything wanted is visible."""
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


def main() -> None:
    """Measures and prints."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.duckdb"
        subprocess.run(
            [sys.executable, "-m", "analysis", "sync"],
            cwd=ROOT,
            env={**os.environ, "ADDEND_STORE": str(store)},
            check=True,
            stdout=subprocess.DEVNULL,
        )
        plain = Path(folder) / "plain.py"
        plain.write_text("import streamlit as st\nst.title('plain')\n")
        process, address = serve(plain, store)
        floor = statistics.median(visits(address, "[data-testid=stMain] h1", VISITS))
        process.terminate()
        process, address = serve(ROOT / "dashboard" / "app.py", store)
        first, *later = visits(address, "[data-testid=stVegaLiteChart] .marks", 1 + VISITS)
        process.terminate()
    median = statistics.median(later)
    print(f"Home with its first chart drawn, {os.cpu_count()} cores; budget {BUDGET_SECONDS:.0f} s")
    print(f"first visit     {first:5.2f} s   {first / BUDGET_SECONDS:4.2f} of the budget")
    print(f"later visits    {median:5.2f} s   {median / BUDGET_SECONDS:4.2f} of the budget   (median of {VISITS})")
    print(f"plain Streamlit {floor:5.2f} s   Home takes {median / floor:.2f} times as long")


if __name__ == "__main__":
    main()
