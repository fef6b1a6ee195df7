"""The head of a page: its title, its lead, its link, and the ways to the other pages of its room."""

from collections.abc import Mapping

import streamlit as st

from analysis import links
from analysis.core import settings
from analysis.links import Value
from dashboard.session import held_texts, rooms
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import address
from dashboard.widgets.glossary_hint import glossary_hint

LONG_PAGE = 3
"""A page of so many figures gets a table of contents."""
LINK, CONTENTS, CONTENTS_PLACE = "show.link", "show.contents", "show.contents.place"
"""Keys of the session's state for a page's placeholders while it is drawn."""


def begin() -> None:
    """Forgets the placeholders of the page that was drawn before."""
    for key in (LINK, CONTENTS, CONTENTS_PLACE):
        st.session_state.pop(key, None)


def header(page: str, lead: str = "") -> None:
    """A page's title and lead; on a hosted server, also what becomes of the texts or images it takes."""
    set_tab_title(links.VIEWS[page].title)
    room = rooms.room_of(page)
    if room is not None and len(room.pages) > 1:
        with st.container(horizontal=True, vertical_alignment="center", key="doors"):
            _room_links(page)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.title(links.VIEWS[page].title, anchor=False)
        st.session_state[LINK] = st.container(width="content")
    if lead:
        say_lead(lead)
    st.session_state[CONTENTS] = []
    st.session_state[CONTENTS_PLACE] = st.empty()
    if settings.hosted() and {"text", "image"} & set(links.VIEWS[page].defaults()):
        retention = (
            "Saved probes are kept with their text." if settings.switch("ADDEND_SAVE_PROBES") else "Nothing is saved."
        )
        st.caption(
            "This server is shared. What you type or upload is sent to it and held in its memory for a while, so "
            f"that the same request need not be computed twice; it is not logged. {retention} A text is also part of "
            "this page's address, unless it is too long for one, and your browser remembers it. Do not probe what is "
            "private."
        )


def say_lead(lead: str) -> None:
    """A page's lead, which says what the page is about."""
    st.markdown(lead, help=glossary_hint(lead))


def set_tab_title(name: str) -> None:
    """Names the page in the browser's tab and history."""
    st.set_page_config(page_title=f"{name} · Addend")


def _room_links(page: str) -> None:
    """Links to the other pages of a page's room."""
    room = rooms.room_of(page)
    assert room is not None, f"{page} is in a room"
    for other in room.pages:
        title = links.VIEWS[other].title
        if other == page:
            st.markdown(f"**{title}**", width="content")
        else:
            st.page_link(f"views/{other}.py", label=title)


def contents() -> None:
    """Links to a long page's figures, under its lead; called once the page is drawn."""
    figures = st.session_state.pop(CONTENTS, [])
    placeholder = st.session_state.pop(CONTENTS_PLACE, None)
    if placeholder is not None and len(figures) >= LONG_PAGE:
        entries = " · ".join(f"[{escape_markdown(title)}](#{name})" for name, title in figures)
        placeholder.caption(f"On this page: {entries}")


def copy_link(page: str, values: Mapping[str, Value], *, without: tuple[str, ...] = (), why_not: str = "") -> None:
    """The control that gives the link to this view.

    without: fields of the reader's text, left out of a second link. why_not: why no link can be given, where the
    reason is not the length of the text alone.
    """
    why_not = why_not or held_texts.why_no_link(page, values)
    with (
        st.session_state.get(LINK) or st.container(),
        st.popover("Copy link", icon=":material/link:", key=f"{page}.link"),
    ):
        if why_not:
            st.info(why_not)
        else:
            st.caption("Opens this exact view. Use the copy button at the right of the box.")
            st.code(address(page, values), language=None, wrap_lines=True)
        if without and any(values.get(name) for name in without):
            st.caption("Without your text: links reach server logs and previews, so a text in a link is not private.")
            shared = {name: value for name, value in values.items() if name not in without}
            st.code(address(page, shared), language=None, wrap_lines=True)


def list_in_contents(anchor: str, title: str) -> None:
    """Adds a place of the page to its table of contents."""
    st.session_state.setdefault(CONTENTS, []).append((anchor, title))
