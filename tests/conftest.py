"""Marks tests by what they need, and spares `-m "not torch"` from importing PyTorch.

    browser      drives Chromium against the running app (tests/browser)
    durability   kills processes, fills disks (tests/durability)
    torch        imports PyTorch, itself or through a helper
    slow         its cases take longer than `SLOW_SECONDS` together, by the times that were measured (tests/slow.txt)

`make fast` runs what has none of these marks; `make check` runs everything, the files that take longest first, so that
no process is left with a long one at the end. `bash tests/run --write-slow` measures the times anew.
"""

import gc
import os
import re
import shutil
from collections import Counter
from collections.abc import Generator
from functools import cache
from itertools import combinations
from pathlib import Path

import pytest
from _pytest.mark.expression import Expression
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parent
SLOW = ROOT / "slow.txt"
SLOW_SECONDS = 2.0
OTHER_MARKS = ("browser", "durability", "slow")
HELPERS = (
    "specimens",
    "family_specimens",
    "laboratory",
    "tiny_tokenizers",
    "word_models",
    "tests.trainings",
    "tests.app",
)
"""Modules of the tests that import torch, or import what does."""
TORCH = re.compile(
    rf"^\s*(?:import|from) (?:torch|transformers|{'|'.join(map(re.escape, HELPERS))})\b"
    r"|streamlit\.testing|measure_models|analysis\.models|analysis\.measurements\.(?!surgery\.arms)",
    re.MULTILINE,
)


@cache
def needs_torch(path: Path) -> bool:
    """Whether a file of tests names PyTorch, something that imports it, or opens a page that may."""
    return TORCH.search(path.read_text(encoding="utf-8")) is not None


@cache
def slow() -> dict[str, float]:
    """Tests (file::function) that were measured to be slow, with the seconds that their cases took together."""
    lines = (line.split() for line in SLOW.read_text(encoding="utf-8").splitlines())
    return {name: float(seconds) for seconds, name in lines}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that measures."""
    parser.addoption("--write-slow", action="store_true", help="write tests/slow.txt from the times of this run")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Writes the times of this run, where that was asked for."""
    if not config.option.write_slow:
        return
    taken: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                taken[report.nodeid.removeprefix("tests/").partition("[")[0]] += report.duration
    lines = [f"{seconds:6.1f} {name}\n" for name, seconds in taken.most_common() if seconds > SLOW_SECONDS]
    SLOW.write_text("".join(lines), encoding="utf-8")


@cache
def selects_torch(expression: str) -> bool:
    """Whether a mark expression, as of `pytest -m`, may select a test that imports PyTorch."""
    compiled = Expression.compile(expression)
    others = (some for count in range(len(OTHER_MARKS) + 1) for some in combinations(OTHER_MARKS, count))
    return any(compiled.evaluate(lambda name, marks=marks: name in ("torch", *marks)) for marks in others)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spares the garbage collector what is imported and collected: all of it stays, and takes seconds to scan."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files whose tests are all deselected, where importing them would import PyTorch."""
    if collection_path.suffix == ".py" and collection_path.name.startswith("test_") and config.option.markexpr:
        return True if needs_torch(collection_path) and not selects_torch(config.option.markexpr) else None
    return None


SHARED = {
    "browser/": "the browser, with its app",
    "app/": "pages, which are slow when they are first opened",
    "unit/test_conformance.py": "rotary architectures",
    "unit/test_rotary_interventions.py": "rotary architectures",
}
"""The beginnings of the paths of tests that share what takes long to make, which they name."""


def shared_process(test: str) -> str:
    """What the tests of one process have in common: what takes long to make, or else a file."""
    path = test.partition("::")[0]
    return next((shared for start, shared in SHARED.items() if path.startswith(start)), path)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives every test its marks, and puts first what takes longest in one process."""
    seconds: Counter[str] = Counter()
    for name, taken in slow().items():
        seconds[shared_process(name)] += taken
    items.sort(key=lambda item: -seconds[shared_process(str(item.path.relative_to(ROOT)))])
    for item in items:
        folder = item.path.relative_to(ROOT).parts[0]
        if folder in ("browser", "durability"):
            item.add_marker(folder)
        if needs_torch(item.path):
            item.add_marker("torch")
        if f"{item.path.relative_to(ROOT)}::{getattr(item, 'originalname', item.name)}" in slow():
            item.add_marker("slow")


class ByProcess(LoadFileScheduling):
    """Hands out to the processes of pytest-xdist what shares one, whole."""

    def _split_scope(self, nodeid: str) -> str:
        return shared_process(nodeid.removeprefix("tests/"))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ByProcess:
    """The scheduler of tests that run in several processes."""
    return ByProcess(config, log)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the committed data, for tests that only read it: built by one process, copied by the others."""
    from analysis import store_build

    folder = tmp_path_factory.getbasetemp()
    shared = (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "addend.duckdb"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_DATA", str(ROOT.parent / "data"))
        patch.setenv("ADDEND_STORE", str(shared))
        assert store_build.refresh().problems == []
    own = folder / "addend.duckdb"
    if own != shared:
        shutil.copyfile(shared, own)
    return own
