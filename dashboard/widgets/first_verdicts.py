"""The first verdicts, which left the app: one page that was made once, beside the results file that holds them."""

import streamlit as st

from analysis.claims.statements import stored
from dashboard.session.page_address import query_parameters

NAME = "addend-first-verdicts.html"
HEIGHT = 900


def show_page() -> None:
    """The page itself, for links from when these were the only verdicts."""
    st.page_link("views/claims.py", label="The statements that took their place", icon=":material/arrow_back:")
    path = stored.first_verdicts_page()
    if not path.is_file():
        st.info(f"The page with the first verdicts is not in this data folder: restore data/{path.name}.")
        return
    st.markdown(
        f"The first verdicts, on each claim as a whole, decide nothing any more. {stored.first_verdicts_note()} They "
        f"stand on a page that was made once, `data/{path.name}`."
    )
    st.download_button("Download the page (HTML)", path.read_bytes(), NAME, "text/html", on_click="ignore")
    st.iframe(path, height=HEIGHT, alt="The first verdicts")


def mention() -> None:
    """A sentence on the first verdicts with the link to them."""
    if note := stored.first_verdicts_note():
        with st.container(horizontal=True, gap="small"):
            st.caption(f"Version 1 of the rules judged each claim as a whole. {note}", width="content")
            st.page_link(
                "views/claims.py", label="The first verdicts", query_params=query_parameters("claims", {"rules": "1"})
            )
