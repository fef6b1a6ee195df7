"""Problems, reported in words at the place of the page where they arose."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from analysis.ablation.variants import readable
from analysis.core import default_model
from analysis.core.errors import AddendError, ModelNotDownloaded, NoResults, NotInstalled, NotMeasured, ProbeStopped
from dashboard.hosting import log
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown, hide_server_paths
from dashboard.widgets.pickers import jump

OFFERED = 4
"""The most models that are linked in place of one without results."""


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
def reporting_missing_results(page: str = "", place: str = "") -> Iterator[None]:
    """Says which stored results the block lacks; the page goes on.

    page: whose field `model` may be changed to a model that has them. place: the block, of several on the page.
    """
    try:
        yield
    except NotMeasured as missing:
        if not page:
            st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")
            return
        _offer_measured_models(missing, page, place)
    except NoResults as missing:
        st.info(escape_markdown(str(missing)), icon=":material/hourglass_empty:")


def _offer_measured_models(missing: NotMeasured, page: str, place: str) -> None:
    """The sentence on what is missing, buttons to the same view of some models that have it, and folded the command."""
    st.info(escape_markdown(missing.sentence), icon=":material/hourglass_empty:")
    first = sorted(missing.measured, key=lambda model: (model != default_model.NAME, readable(model) != model))[
        :OFFERED
    ]
    if first:
        more = f"; {len(missing.measured)} models have it" if len(missing.measured) > len(first) else ""
        st.caption(f"See it of{more}:")
        with st.container(horizontal=True):
            for model in first:
                jump(page, escape_markdown(readable(model)), {"model": model}, place=place)
    if missing.command:
        with st.expander("How to measure it"):
            st.code(missing.command, language="bash")


def show_failure(error: Exception) -> None:
    """Reports an unexpected exception and logs where it arose, without its message, which may quote a reader's text."""
    reference = uuid.uuid4().hex[:8]
    log.log_event("broken", reference=reference, kind=type(error).__name__, at=log.code_locations(error))
    st.error(
        f"Something in Addend failed (reference {reference}, in the server's log). Change a setting, or reload the "
        "page."
    )
