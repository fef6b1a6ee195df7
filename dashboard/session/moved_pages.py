"""Pages that are a part of another page now: their old links open what they showed."""

import streamlit as st

from analysis.links import VIEWS
from analysis.moved_links import moved
from dashboard.session import held_texts

PROBLEMS = "moved_pages.problems"
"""The key in a session's state of what an old link asks for and cannot be given."""


def redirect(page: str) -> None:
    """Opens the page of today with what the old page's link says."""
    raw = {name: st.query_params.get_all(name) for name in st.query_params}
    parameters, lost = held_texts.restore(raw)
    values, problems = VIEWS[page].parse(parameters)
    st.session_state[PROBLEMS] = [*problems, *([lost] if lost else [])]
    today, fields = moved(page, values)
    # As a mapping: of pairs, Streamlit would keep the last of each name.
    st.switch_page(f"views/{today}.py", query_params=held_texts.shorten(today, fields))


def problems() -> list[str]:
    """Sentences on what the old link that led here asks for and cannot be given; each is said once."""
    return list(st.session_state.pop(PROBLEMS, []))
