"""The store that pages are opened with, unless a test has one of its own."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def committed_store(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of the committed data, built once for all tests."""
    monkeypatch.setenv("ADDEND_STORE", str(built))
