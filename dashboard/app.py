"""Addend: why are position embeddings added to words? Run: streamlit run dashboard/app.py."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis import settings  # noqa: E402
from analysis.errors import AddendError  # noqa: E402
from dashboard import log, queries, show, sign_in  # noqa: E402
from dashboard.links import VIEWS  # noqa: E402

SIDEBAR = 236  # Pixels that the list of pages takes; on a phone it is closed until it is asked for.
VIEW_FILES = Path(__file__).parent / "views"


def page(path: str, icon: str, *, default: bool = False) -> st.Page:
    """A page whose file has its path's name."""
    return st.Page(
        VIEW_FILES / f"{path or 'home'}.py",
        title=VIEWS[path].title,
        icon=f":material/{icon}:",
        url_path=path,
        default=default,
    )


st.set_page_config(
    page_title="Addend",
    page_icon=str(ROOT / "dashboard/assets/icon.png"),
    layout="wide",
    initial_sidebar_state=SIDEBAR,
)
chosen = st.navigation(
    {
        "": [page("", "home", default=True), page("read", "auto_stories")],
        "Evidence": [
            page("claims", "fact_check"),
            page("terms", "grid_on"),
            page("depth", "layers"),
            page("geometry", "architecture"),
            page("encodings", "waves"),
            page("published", "menu_book"),
            page("glue", "leaderboard"),
            page("training", "show_chart"),
        ],
        "Try it": [
            page("probe", "experiment"),
            page("compare", "compare"),
            page("vision", "image"),
            page("interventions", "build"),
        ],
        "Reference": [
            page("choose", "checklist"),
            page("runs", "list_alt"),
            page("sql", "database"),
            page("import", "upload"),
            page("about", "info"),
            page("status", "monitor_heart"),
        ],
    }
)
# Captions carry what a chart rests on, so they are not fainter than a reader can read; links wrap instead of being cut;
# where there is no mouse, a table's own buttons are always seen, and stand clear of what is above it.
st.html(
    "<style>.stMainBlockContainer{padding-top:3.5rem}"
    "@media(min-width:900px){.stMainBlockContainer{padding-left:3rem;padding-right:3rem}}"
    "[data-testid=stCaptionContainer]{opacity:.8}"
    "[data-testid=stPageLink-NavLink] :is(span,p,div){white-space:normal}"
    "@media(pointer:coarse){.stElementContainer:has([data-testid=stDataFrame]){margin-top:2rem}}</style>"
)
try:
    settings.check()
    if settings.hosted():
        log.without_messages()
    sign_in.required()
    queries.ready()
    chosen.run()
except AddendError as problem:
    show.sentence(problem)
except Exception as broken:
    if not settings.hosted():
        raise
    show.broken(broken)
