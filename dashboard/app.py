"""Addend: why are position embeddings added to words? Run: streamlit run dashboard/app.py."""

import sys
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis.errors import AddendError  # noqa: E402
from dashboard import queries, show  # noqa: E402
from dashboard.links import VIEWS  # noqa: E402

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


st.set_page_config(page_title="Addend", page_icon=":material/add_circle:", layout="wide")
chosen = st.navigation(
    {
        "": [page("", "home", default=True)],
        "Evidence": [
            page("terms", "grid_on"),
            page("depth", "layers"),
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
            page("runs", "list_alt"),
            page("sql", "database"),
            page("import", "upload"),
            page("about", "info"),
        ],
    }
)
st.html("<style>.stMainBlockContainer{padding-top:3.5rem}</style>")
try:
    queries.ready()
    chosen.run()
except AddendError as problem:
    show.sentence(problem)
