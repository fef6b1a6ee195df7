"""The command `addend` of an installed package: alone it opens the dashboard, with a word after it runs that command.

addend                     the dashboard, in a browser
addend probe --text ...    what `python -m analysis probe --text ...` does in a checkout
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SETTINGS = (HERE / "streamlit_settings" / "config.toml", HERE.parent / ".streamlit" / "config.toml")
"""Streamlit's settings for the dashboard: of an installed package, and of a checkout."""


def main() -> None:
    """Opens the dashboard and stays until it is stopped, or runs a command."""
    if len(sys.argv) > 1:
        from analysis.commands import main as run_command

        run_command()
        return
    import streamlit as st

    st.App(HERE / "app.py").run(config=streamlit_settings())


def streamlit_settings() -> dict[str, Any]:
    """Streamlit's settings by dotted name. Whether there is a screen for a browser, Streamlit finds out by itself."""
    file = next(file for file in SETTINGS if file.is_file())
    values = dict(_dotted(tomllib.loads(file.read_text(encoding="utf-8"))))
    values.pop("server.headless", None)
    return values


def _dotted(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, Mapping):
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


if __name__ == "__main__":
    main()
