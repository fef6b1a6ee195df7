"""Keeps the colours of charts when the reader's system turns dark or light, and when the page's address changes."""

import streamlit as st

from dashboard.widgets.moving_pictures import show_component


def redraw_on_theme_change(*, dark: bool) -> None:
    """Watches the background in the browser, and takes no room on the page. dark: how the page is drawn now."""
    with st.container(key="theme_watch"):
        show_component(
            "theme_watch",
            "theme_watch.component",
            {"dark": dark},
            dark=dark,
            package="dashboard.widgets",
            on_changed_change=lambda: None,
        )
