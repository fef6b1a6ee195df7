"""One figure alone, for a frame in another page: its heading, its charts, and a link to the whole view."""

import streamlit as st

from analysis import links
from analysis.core.errors import LinkError
from analysis.figures import FIGURES, stored_figure
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show

BARE = """<style>
[data-testid=stSidebar], [data-testid=stHeader] { display: none; }
.stMain .stMainBlockContainer { padding: .6rem 1rem; }
h1 { font-size: 1.3rem !important; }
</style>"""


def show_only(page: str, name: str) -> None:
    """The figure of a page, as the rest of its link says. Raises LinkError where it cannot be shown alone."""
    st.html(BARE)
    view = links.VIEWS.get(page)
    if view is None or name not in view.figures:
        available = ", ".join(view.figures) if view else ""
        raise LinkError(f"This page has no figure {name!r} to show alone; it has: {available or 'none'}.")
    if FIGURES[name].live:
        raise LinkError(
            f"The figure {name!r} is of a model run, which a frame in another page does not start. Export it as HTML "
            "from its own page instead: that file can stand in any frame."
        )
    raw = {field: st.query_params.get_all(field) for field in st.query_params if field != show.ONLY}
    values, problems = view.parse(raw)
    for problem in problems:
        st.warning(escape_markdown(problem))
    figure = stored_figure(name, values)
    st.title(escape_markdown(figure.heading), anchor=False)
    show.charts(figure, page)
    st.caption(f"{escape_markdown(figure.title)}. [Addend: the whole view]({show.address(page, values)})")
