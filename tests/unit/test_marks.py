"""Proves that the fast tests import no PyTorch: files that do are left out wherever their tests are deselected."""

import re
from pathlib import Path

import pytest

from tests.conftest import selects_torch

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("expression", "selects"),
    [
        ("not torch", False),
        ("not (slow or torch)", False),
        ("slow and not torch", False),
        ("slow", True),
        ("torch and browser", True),
        ("not slow", True),
    ],
)
def test_an_expression_says_whether_torch_is_needed(expression: str, selects: bool) -> None:
    assert selects_torch(expression) == selects


def test_make_fast_needs_no_torch() -> None:
    (expression,) = re.findall(r'pytest -m "([^"]+)"', (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert not selects_torch(expression)
