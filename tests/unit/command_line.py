"""Runs a command of the analysis in this process."""

import sys

import pytest

from analysis import commands


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """The exit code of `python -m analysis ARGUMENTS`."""
    monkeypatch.setattr(sys, "argv", ["analysis", *arguments])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    return int(ended.value.code or 0)
