"""Common parts of the tabs of Look inside: a run with its status, the line about it, and the choice of a figure."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.formatting import at_most
from analysis.figures.terms.measures import MEASURES
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import probe_form, show
from dashboard.widgets.pickers import Pickers

PAGE = "inside"
RunT = TypeVar("RunT")


def run(
    pickers: Pickers,
    compute: Callable[[Callable[[str], None]], RunT],
    *sides: str,
    on_failure: Callable[[], None] = lambda: None,
) -> RunT:
    """The result of a run, whose progress a status box shows. On a failure says why, and ends the page.

    compute: makes the result, and reports its progress to the function that it is given. sides: the ends of the names
    of the fields that it takes: "" of the left side, "2" of the right one. on_failure: draws what else the page has.
    """
    place = st.empty()
    status = place.status("Starting", expanded=False)
    try:
        with status:
            result = compute(live.progress_reporter(status))
    except AddendError as problem:
        place.empty()
        on_failure()
        with st.container(key="inside.failed"):  # By which the style shows the form on a narrow page.
            pickers.done()
            show.show_problem(problem)
            probe_form.offer_truncation(pickers, problem)
            probe_form.offer_ways_out(pickers, problem, *(sides or ("",)))
        st.stop()
    place.empty()
    return result


def choose_once(
    name: str,
    label: str,
    options: Mapping[str, str],
    shown: str,
    chosen: Callable[[str], None],
    *,
    labelled: bool = False,
) -> None:
    """A row of buttons of which `shown` is pressed. chosen: called with the one that a reader presses."""
    key = f"{PAGE}.{name}.chosen"
    st.session_state[key] = shown
    st.segmented_control(
        label,
        list(options),
        default=shown,
        format_func=options.__getitem__,
        key=key,
        required=True,
        wrap=True,
        on_change=lambda: chosen(st.session_state[key]),
        label_visibility="visible" if labelled else "collapsed",
    )


def choose(
    pickers: Pickers, name: str, label: str, options: Mapping[str, str], shown: str, *, labelled: bool = False
) -> str:
    """A row of buttons for a field that may hold what is none of the options; `shown` is pressed then."""
    choose_once(name, label, options, shown, lambda chosen: pickers.set(name, chosen), labelled=labelled)
    return shown


def look(pickers: Pickers, options: Mapping[str, str], label: str = "") -> str:
    """The figure of a tab that is shown: what the link says, where the tab has it, else its first.

    label: stands above the buttons, where they do not speak for themselves.
    """
    asked = str(pickers.get("look"))
    shown = asked if asked in options else next(iter(options))
    return choose(pickers, "look", label or "Figure", options, shown, labelled=bool(label))


def measure(pickers: Pickers) -> None:
    """Buttons for the measure of a term."""
    titles = {"share": "by share", "effect": "by effect"}
    pickers.segments("measure", "Measure", list(MEASURES), titles, label_visibility="collapsed")


def adds_up(error: float, whole: str) -> str:
    """Words on how nearly the parts add up to a whole. error: the largest difference."""
    return f"the parts add up to {whole}, off by at most {at_most(error)}"


def about(result: Any, tokens: int, extra: str, place: Any, *, title: str = "") -> None:
    """One line that is true of every figure of a tab, and warnings that concern all of it.

    title: the words for the model, where its name does not say what it is.
    """
    provenance = result.provenance
    place.caption(
        escape_markdown(
            f"{title or provenance.model} ({provenance.revision}): {extra}; {tokens} tokens. "
            f"{provenance.device}, {provenance.dtype}, {provenance.created[:10]}."
        )
    )
    if provenance.truncated_from:
        st.warning(f"The text was cut from {provenance.truncated_from} to {tokens} tokens, the model's limit.")


def show_figure(name: str, values: Mapping[str, Any], result: Any, **options: Any) -> None:
    """A live figure with its menu."""
    show.show(live.figure(name, values, result), PAGE, values, **options)
