"""The store of a page, which is built when it is missing or older than the files. Imports no torch."""

import streamlit as st

from analysis import store_build


def ensure() -> None:
    """Builds the store when it is missing or older than the files. Raises StoreError with a remedy."""
    if not store_build.is_current():
        rebuild()


def rebuild() -> None:
    """Builds the store of files that were just added, which `ensure` would only notice after a while."""
    with st.spinner("Building the store from the results files"):
        store_build.refresh()
