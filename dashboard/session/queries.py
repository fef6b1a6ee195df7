"""Queries of pages to the store that are still to move to the topics that they belong to. Imports no torch."""

import streamlit as st

from analysis import store_build
from analysis.figures import stored_figure
from analysis.figures.experiments import board_rows
from analysis.figures.training.data import stored_presets
from analysis.store import read

rows = read.query
figure = stored_figure
trained_presets = stored_presets
experiments_board = board_rows.board


def ensure_store() -> None:
    """Builds the store when it is missing or older than the files. Raises StoreError with a remedy."""
    if not store_build.is_current():
        with st.spinner("Building the store from the results files"):
            store_build.refresh()


def rebuild_store() -> None:
    """Builds the store of files that were just added, which `ensure_store` would only notice after a while."""
    with st.spinner("Building the store from the results files"):
        store_build.refresh()
