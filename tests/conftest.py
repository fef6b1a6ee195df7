"""Marks tests by what they need, and spares `-m "not torch"` from importing PyTorch.

    browser      drives Chromium against the running app (tests/browser)
    durability   kills processes, fills disks (tests/durability)
    torch        imports PyTorch, itself or through a helper
    slow         takes longer than `SLOW_SECONDS` on two cores, by the times that were measured (tests/slow.txt)

`make fast` runs what has none of these marks; `make check` runs everything.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
SLOW_SECONDS = 1.0
HELPERS = ("specimens", "family_specimens", "laboratory", "tiny_tokenizers", "word_models", "tests.trainings")
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
def slow() -> frozenset[str]:
    """Names of tests (file::function) that were measured to be slow."""
    return frozenset((ROOT / "slow.txt").read_text(encoding="utf-8").split())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out files whose tests are all deselected, where importing them would import PyTorch."""
    if collection_path.suffix == ".py" and collection_path.name.startswith("test_"):
        return True if "not torch" in (config.option.markexpr or "") and needs_torch(collection_path) else None
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Gives every test its marks."""
    for item in items:
        folder = item.path.relative_to(ROOT).parts[0]
        if folder in ("browser", "durability"):
            item.add_marker(folder)
        if needs_torch(item.path):
            item.add_marker("torch")
        if f"{item.path.relative_to(ROOT)}::{getattr(item, 'originalname', item.name)}" in slow():
            item.add_marker("slow")
