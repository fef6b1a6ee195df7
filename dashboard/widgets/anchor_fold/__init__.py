"""Folds that a link to their anchor opens."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard.widgets.moving_pictures import show_component


def anchor_fold(page: str, anchor: str, label: str) -> DeltaGenerator:
    """A fold of a page that `page#anchor` opens, where `open_by_anchor` is on the page."""
    return st.expander(label, key=f"{page}.fold_{anchor}")


def open_by_anchor(*, dark: bool) -> None:
    """Opens the fold whose anchor the address has, now and at every press on a link to one; takes no room."""
    with st.container(key="theme_watch_anchor_fold"):
        show_component("anchor_fold", "anchor_fold.component", {}, dark=dark, package="dashboard.widgets")
