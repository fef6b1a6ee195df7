"""Where a page is, as its reader reaches it, and whether it is dark. Imports nothing that takes long."""

from collections.abc import Mapping

import streamlit as st

from analysis import links
from analysis.links import Value


def address(page: str, values: Mapping[str, Value]) -> str:
    """The link to a page in a state, at the address the reader came by (which may end in the path of a page)."""
    seen = (st.context.url or "").rstrip("/")
    stem, _, last = seen.rpartition("/")
    return links.link(page, values, stem if last in links.VIEWS else seen)


def is_dark() -> bool:
    """Whether the reader's browser shows the page light on dark."""
    return st.context.theme.type == "dark"
