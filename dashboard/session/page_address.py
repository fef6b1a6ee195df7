"""Links to pages at the reader's address, and whether the page is dark. Imports nothing that takes long."""

from collections.abc import Mapping

import streamlit as st

from analysis import links
from analysis.links import Value
from analysis.moved_links import moved
from dashboard.session import held_texts


def address(page: str, values: Mapping[str, Value]) -> str:
    """The link to a page in a state, at the address the reader came by (which may end in the path of a page).

    Of a page that is a part of another one now, the link to that.
    """
    url = (st.context.url or "").rstrip("/")
    stem, _, last = url.rpartition("/")
    return links.link(*moved(page, values), stem if last in links.VIEWS else url)


def query_parameters(page: str, values: Mapping[str, Value]) -> list[tuple[str, str]]:
    """A link's parameters as Streamlit's page links take them; the session keeps what is too long for an address."""
    return [(name, text) for name, texts in held_texts.shorten(page, values).items() for text in texts]


def is_dark() -> bool:
    """True if the reader's browser shows the page light on dark."""
    return st.context.theme.type == "dark"
