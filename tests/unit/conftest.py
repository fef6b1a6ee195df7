"""Fixtures that several files share: an empty data folder of the test's own, and the store of the committed data."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder with its store inside; both are the test's own."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(folder))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    return folder


@pytest.fixture
def store(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The store of the committed data, as this process's store."""
    monkeypatch.setenv("ADDEND_DATA", str(ROOT / "data"))
    monkeypatch.setenv("ADDEND_STORE", str(built))
    return built
