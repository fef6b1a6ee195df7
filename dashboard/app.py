"""Addend: why are position embeddings added to words? Run: streamlit run dashboard/app.py."""

import sys
from functools import partial
from pathlib import Path

import streamlit as st

ROOT = Path(__file__).resolve().parent.parent
if str(ROOT) not in sys.path:  # Streamlit puts only this file's folder there.
    sys.path.insert(0, str(ROOT))

from analysis.core import settings  # noqa: E402
from analysis.core.colours import css_variables  # noqa: E402
from analysis.core.errors import AddendError  # noqa: E402
from analysis.links import VIEWS  # noqa: E402
from analysis.moved_links import MOVED  # noqa: E402
from analysis.narrative import front_page  # noqa: E402
from dashboard.hosting import layout, log, sign_in  # noqa: E402
from dashboard.session import moved_pages, page_address, rooms  # noqa: E402
from dashboard.widgets import home_page, opening, theme_watch  # noqa: E402

VIEW_FILES = Path(__file__).parent / "views"
VIEWS_BUT_HOME = frozenset(VIEWS) - {""}
ASSETS = Path(__file__).parent / "assets"


def page(path: str, title: str, icon: str, *, listed: bool) -> st.Page:
    """A page whose file has its path's name, or an old one, which leads on. listed: the list at the left names it."""
    return st.Page(
        partial(moved_pages.redirect, path) if path in MOVED else VIEW_FILES / f"{path or 'home'}.py",
        title=title,
        icon=f":material/{icon}:",
        url_path=path,
        default=not path,
        visibility="visible" if listed else "hidden",
    )


def pages() -> list[st.Page]:
    """Every page; one of each room is listed, under the room's name."""
    current_page = rooms.path_of(st.context.url)
    entries = [
        page(path, room.title, room.icon, listed=path == room.shown(current_page))
        for room in rooms.ROOMS
        for path in (*room.pages, *room.former)
    ]
    return [*entries, page(rooms.FOOTER, VIEWS[rooms.FOOTER].title, "monitor_heart", listed=False)]


st.set_page_config(
    page_title="Addend", page_icon=str(ASSETS / "icon.png"), layout="wide", initial_sidebar_state=layout.WIDTH
)
selected_page = st.navigation(pages())
st.html(f"<style>:root {{ {css_variables(dark=page_address.is_dark())} }}</style>")
for style in ("layout.css", "app.css"):
    st.html(ASSETS / style)
theme_watch.redraw_on_theme_change(dark=page_address.is_dark())


def draw_page() -> None:
    """The chosen page, once the store is built. What draws it takes long to import."""
    from dashboard.session import current_store
    from dashboard.widgets import only_figure, show

    try:
        current_store.ensure()
        if show.ONLY in st.query_params:
            only_figure.show_only(rooms.path_of(st.context.url), st.query_params[show.ONLY])
        else:
            show.begin()
            selected_page.run()
            show.contents()
    except AddendError as problem:
        show.show_problem(problem)
    except Exception as error:
        if not settings.hosted():
            raise
        show.show_failure(error)


def stored_front_page() -> front_page.FrontPage | None:
    """Home as stored in its file, as long as nothing else can be drawn yet."""
    if opening.is_prepared() or rooms.path_of(st.context.url) in VIEWS_BUT_HOME or st.query_params:
        return None
    return front_page.load_saved()


try:
    settings.check()
    if settings.hosted():
        log.hide_exception_messages()
    sign_in.require_sign_in()
    st.sidebar.page_link(f"views/{rooms.FOOTER}.py", label="Status", icon=":material/monitor_heart:")
except AddendError as problem:
    from dashboard.widgets import show

    show.show_problem(problem)
else:
    try:
        if (stored := stored_front_page()) is not None:
            home_page.draw(stored)
            opening.progress()
        else:
            draw_page()
    finally:
        opening.begin()
