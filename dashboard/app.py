"""Addend: why are position embeddings added to words? Run: streamlit run dashboard/app.py."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis import settings  # noqa: E402
from analysis.errors import AddendError  # noqa: E402
from dashboard import log, queries, rooms, show, sign_in  # noqa: E402
from dashboard.links import VIEWS  # noqa: E402

SIDEBAR = 252  # Pixels that the list of pages takes; on a phone it is closed until it is asked for.
VIEW_FILES = Path(__file__).parent / "views"


def page(path: str, title: str, icon: str, *, listed: bool) -> st.Page:
    """A page whose file has its path's name. listed: whether the list at the left names it."""
    return st.Page(
        VIEW_FILES / f"{path or 'home'}.py",
        title=title,
        icon=f":material/{icon}:",
        url_path=path,
        default=not path,
        visibility="visible" if listed else "hidden",
    )


def pages() -> dict[str, list[st.Page]]:
    """Every page by section: one of each room is listed, under the room's name."""
    open_now = rooms.path_of(st.context.url)
    found = {
        section: [
            page(path, room.title, room.icon, listed=path == room.shown(open_now))
            for room in inside
            for path in room.pages
        ]
        for section, inside in rooms.ROOMS.items()
    }
    found[""].append(page(rooms.FOOTER, VIEWS[rooms.FOOTER].title, "monitor_heart", listed=False))
    return found


st.set_page_config(
    page_title="Addend",
    page_icon=str(ROOT / "dashboard/assets/icon.png"),
    layout="wide",
    initial_sidebar_state=SIDEBAR,
)
chosen = st.navigation(pages())
# Captions carry what a chart rests on, so they are not fainter than a reader can read; links wrap instead of being cut;
# where there is no mouse, a table's own buttons are always seen, and stand clear of what is above it.
st.html(
    "<style>.stMainBlockContainer{padding-top:3.5rem}"
    "@media(min-width:900px){.stMainBlockContainer{padding-left:3rem;padding-right:3rem}}"
    "[data-testid=stCaptionContainer]{opacity:.8}"
    "[data-testid=stPageLink-NavLink] :is(span,p,div){white-space:normal}"
    ".st-key-doors{border-bottom:1px solid rgba(128,128,128,.25);gap:1.4rem;margin-bottom:-.4rem}"
    ".st-key-doors strong{border-bottom:2px solid currentColor;padding-bottom:.35rem}"
    "@media(pointer:coarse){.stElementContainer:has([data-testid=stDataFrame]){margin-top:2rem}}</style>"
)
try:
    settings.check()
    if settings.hosted():
        log.without_messages()
    sign_in.required()
    queries.ready()
    show.below_the_list()
    chosen.run()
except AddendError as problem:
    show.sentence(problem)
except Exception as broken:
    if not settings.hosted():
        raise
    show.broken(broken)
