"""Redraws a page when its reader's system turns dark or light, so that charts have the colours of their background."""

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
