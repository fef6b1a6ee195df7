"""Problems, reported in words at the place of the page where they arose."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from analysis.core.errors import AddendError, ModelNotDownloaded, NoResults, NotInstalled, ProbeStopped
from dashboard.hosting import log
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths


def show_problem(problem: AddendError) -> None:
    """Says what went wrong, at this place of the page."""
    text = escape_markdown(hide_server_paths(str(problem)))
    if not isinstance(problem, ModelNotDownloaded | ProbeStopped | NotInstalled):
        st.error(text, icon=":material/error:")
        return
    st.info(text, icon=":material/info:")  # nothing went wrong: it waits for a press, or for an installation
    if isinstance(problem, ModelNotDownloaded):
        live.download_button(problem)
    elif isinstance(problem, ProbeStopped):
        live.resume_button(problem)


@contextmanager
def reporting_problems() -> Iterator[None]:
    """Reports a problem of the block at this place; the page goes on."""
    try:
        yield
    except AddendError as problem:
        show_problem(problem)


@contextmanager
def reporting_missing_results() -> Iterator[None]:
    """Says which stored results the block lacks; the page goes on."""
    try:
        yield
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")


def show_failure(error: Exception) -> None:
    """Reports an unexpected exception and logs where it arose, without its message, which may quote a reader's text."""
    reference = uuid.uuid4().hex[:8]
    log.log_event("broken", reference=reference, kind=type(error).__name__, at=log.code_locations(error))
    st.error(
        f"Something in Addend failed (reference {reference}, in the server's log). Change a setting, or reload the "
        "page."
    )
