"""What a benchmark's table says of the machine, where it is kept, and the server it measures."""

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import psutil

from analysis.core.provenance import git_sha, library_versions

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[2]
APP = "dashboard/app.py"
TABLES = Path(__file__).parent / "tables"
START_SECONDS = 120.0


class Table:
    """Lines that are printed as they come and, where asked, kept as tables/NAME-DEVICE-DATE.txt."""

    def __init__(self, name: str, command: str, device: str = "cpu") -> None:
        self.name, self.device, self.lines = name, device, []
        self.load = os.getloadavg()[0]
        self.say(f"# python -m tests.benchmarks.{command}")

    def say(self, line: str = "") -> None:
        """One more line."""
        print(line, flush=True)
        self.lines.append(line)

    def close(self, write: bool) -> None:
        """Says on what machine all this was measured, and keeps the table."""
        memory = psutil.virtual_memory().total / 2**30
        now = datetime.now(UTC).strftime("%Y-%m-%d")
        self.lines[1:1] = [
            f"# {now}, code {git_sha()}, {os.cpu_count()} cores {platform.machine()} ({platform.system()}), "
            f"{memory:.0f} GiB, load average {self.load:.1f} before and {os.getloadavg()[0]:.1f} after",
            f"# {library_versions()}",
        ]
        if sys.dont_write_bytecode:
            self.lines.append("# This Python keeps no bytecode, so each start compiles what it imports for seconds.")
        print("\n".join(self.lines[1:3]), flush=True)
        if write:
            TABLES.mkdir(exist_ok=True)
            path = TABLES / f"{self.name}-{self.device}-{now}.txt"
            path.write_text("\n".join(self.lines) + "\n", encoding="utf-8")
            print(f"written: {path.relative_to(ROOT)}")


def percentile(values: Sequence[float], percent: float) -> float:
    """A percentile; not a number where there are no values."""
    return float(np.percentile(values, percent)) if len(values) else float("nan")


def timed(work: Callable[[], object], device: str = "cpu") -> float:
    """Milliseconds of some work by the clock, that of the device included."""
    started = time.perf_counter()
    work()
    if device == "cuda":
        import torch

        torch.cuda.synchronize()
    return (time.perf_counter() - started) * 1000


def against(value: float, budget: float) -> str:
    """Whether a value keeps its budget, in a word."""
    return "kept" if value <= budget else "OVER"


class Server:
    """A running app, its memory and its processor time: of the whole process tree."""

    def __init__(self, process: subprocess.Popen[bytes], address: str) -> None:
        self.process, self.address = process, address
        self._root = psutil.Process(process.pid)

    def _every(self) -> Iterator[psutil.Process]:
        yield self._root
        yield from self._root.children(recursive=True)

    def megabytes(self) -> float:
        """Resident memory in MB (10^6 bytes)."""
        total = 0
        for one in self._every():
            try:
                total += one.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total / 1e6

    def cpu_seconds(self) -> float:
        """Processor time so far of the server and of those of its children that live or have ended."""
        times = self._root.cpu_times()
        return times.user + times.system + times.children_user + times.children_system


def free_port() -> int:
    """A port that nobody listens at."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def served(
    script: str,
    settings: Mapping[str, str],
    *options: str,
    log: Path | None = None,
    wait: bool = True,
    code: Path = ROOT,
) -> Iterator[Server]:
    """Runs a script of this repository, or of another checkout, with Streamlit until the block ends.

    wait: until it answers. code: the checkout.
    """
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}", "--server.headless=true"]
    with log.open("wb") if log else open(os.devnull, "wb") as said:
        process = subprocess.Popen(
            [*command, "--server.fileWatcherType=none", *options],
            cwd=code,
            env={**os.environ, **settings},
            stdout=said,
            stderr=said,
        )
        server = Server(process, f"http://localhost:{port}")
        try:
            if wait:
                answers(server)
            yield server
        finally:
            process.terminate()
            process.wait()


@contextmanager
def chromium(*arguments: str) -> Iterator["Browser"]:
    """Chromium without a window, until the block ends."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = shutil.which("chromium") or playwright.chromium.executable_path
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", *arguments])
        yield browser
        browser.close()


def large_page(browser: "Browser") -> "Page":
    """A page of a fresh profile, as large as a laptop's screen, which waits for two minutes."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
    page.set_default_timeout(120_000)
    return page


def answers(server: Server) -> None:
    """Returns once the server answers. Raises SystemExit where it ends or stays silent."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.process.poll() is None:
        try:
            urllib.request.urlopen(f"{server.address}/_stcore/health", timeout=1)
            return
        except OSError:
            time.sleep(0.02)
    raise SystemExit(f"The server did not answer within {START_SECONDS:.0f} s.")


def synced(store: Path, settings: Mapping[str, str] | None = None, code: Path = ROOT) -> float:
    """Builds a store by the product's own command, of this or another checkout, and gives the seconds that took."""
    started = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "analysis", "sync"],
        cwd=code,
        env={**os.environ, **(settings or {}), "ADDEND_STORE": str(store)},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return time.perf_counter() - started
