"""Draws a page again when its reader's system turns dark or light: charts have the ink of the ground below them."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2 import component

SCRIPT = Path(__file__).parents[1] / "assets" / "theme_watch.js"


@cache
def _component() -> Any:
    return component("addend_theme_watch", js=SCRIPT.read_text(encoding="utf-8"))


def theme_watch(*, dark: bool) -> None:
    """Watches from within the browser, and takes no room on the page. dark: how the page is drawn now."""
    with st.container(key="theme_watch"):
        _component()(key="theme_watch.changes", data={"dark": dark}, on_changed_change=lambda: None)
