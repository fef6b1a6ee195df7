"""The form of the live probe: model, text, pair; saving, and cutting a text that is too long."""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import store_build
from analysis.ablation.variants import readable
from analysis.core import default_model, settings
from analysis.core.errors import AddendError, NotInstalled, TextTooLong
from analysis.links import Value
from analysis.measurements.terms import Decomposition
from analysis.probes import text_probe
from analysis.store import checkpoints
from dashboard.session import held_texts, live, queries, query_quota
from dashboard.session.markdown_escape import escape_markdown
from dashboard.session.page_address import query_parameters
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

REVISION = "A branch, tag or commit, on a hub."


def form(pickers: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    saved = str(pickers.get("probe"))
    if saved:
        st.info(
            f"Showing the saved probe {escape_markdown(saved)}. Send the form to run a new probe.",
            icon=":material/bookmark:",
        )
    if text_form(pickers, "Take it apart"):
        pickers.set("probe", "")


def text_form(pickers: Pickers, submit_label: str, *, extra_help: str = "", height: int = 68) -> bool:
    """The form for a model and a text, with less common options folded below. Returns whether it was sent.

    The URL changes only then. extra_help: added to the help of the model's box. height: of the text's box, in pixels.
    """
    with st.form(f"{pickers.view.page}.form", border=True):
        first, second = st.columns([4, 10])
        entered = {"model": model_box(pickers, first, extra_help=extra_help)}
        entered["text"] = second.text_area("Text", key=pickers.box("text"), height=height) or ""
        folded, last = st.columns([11, 3])
        with last:
            sent = st.form_submit_button(submit_label, type="primary", width="stretch")
        expanded = bool(pickers.get("pair") or pickers.get("revision"))
        with folded.expander("A second text, or a revision of the model", expanded=expanded):
            first, second = st.columns([8, 3])
            entered |= _pair_boxes(pickers, first, second)
        if sent:
            for name, value in entered.items():
                pickers.typed(name, value)
            pickers.set("truncate", False)
    return sent


def stored_buttons(pickers: Pickers, stored: Mapping[str, tuple[str, str]]) -> None:
    """Buttons that fill the form with what the store holds. stored: model -> its revision, and the text.

    The one of what is shown is pressed, so this is called when the page knows what it shows.
    """
    key = f"{pickers.view.page}.stored"
    model = str(pickers.get("model")).strip()
    revision, text = stored.get(model, ("", ""))
    is_stored = (
        pickers.get("text") == text and not pickers.get("pair") and pickers.get("revision") in ("", revision)
    ) and model in stored
    st.session_state[key] = model if is_stored else None

    def fill() -> None:
        chosen = st.session_state[key]
        if chosen is not None:
            for name, value in {"model": chosen, "text": stored[chosen][1], "revision": "", "pair": ""}.items():
                pickers.set(name, value)

    st.pills(
        "Stored, and shown at once",
        list(stored),
        default=st.session_state[key],
        format_func=readable,
        key=key,
        on_change=fill,
    )


def model_box(
    pickers: Pickers, column: DeltaGenerator, side: str = "", *, suffix: str = "", extra_help: str = ""
) -> str:
    """The box for a model's name. side: the side of a comparison; suffix: what its label says besides."""
    help = (
        f"{default_model.NAME} (embedded), one of our own ({', '.join(checkpoints.names())}), {live.folder_hint()}or a "
        "Hugging Face id such as owner/name. Only safetensors are read, and no code from a repository is ever "
        f"run.{extra_help}"
    )
    empty = "as on the left" if side else None
    return column.text_input(f"Model{suffix}", key=pickers.box(f"model{side}"), help=help, placeholder=empty) or ""


def comparison_form(pickers: Pickers) -> None:
    """Asks for two models and two texts; what is left empty on the right is as on the left."""
    entered: dict[str, str] = {}
    sides = (("", " (left)", None), ("2", " (right)", "as on the left"))
    with st.form("compare.form", border=True):
        for column, (side, suffix, placeholder) in zip(st.columns(2, gap="large"), sides, strict=True):
            first, second = column.columns([2, 3])
            entered[f"model{side}"] = model_box(pickers, first, side, suffix=suffix)
            key = pickers.box(f"text{side}")
            text = second.text_area(f"Text{suffix}", key=key, height=68, placeholder=placeholder)
            entered[f"text{side}"] = text or ""
        expanded = any(pickers.get(name + side) for name in ("pair", "revision") for side in ("", "2"))
        with st.expander("Second texts, or revisions of the models", expanded=expanded):
            for column, (side, suffix, _) in zip(st.columns(2, gap="large"), sides, strict=True):
                first, second = column.columns([3, 2])
                entered |= _pair_boxes(pickers, first, second, side, suffix)
        if st.form_submit_button("Compare", type="primary"):
            for name, value in entered.items():
                pickers.typed(name, value)


def _pair_boxes(
    pickers: Pickers, first: DeltaGenerator, second: DeltaGenerator, side: str = "", suffix: str = ""
) -> dict[str, str]:
    """Boxes for a second text and a revision."""
    key = pickers.box(f"pair{side}")
    pair = first.text_area(f"Second text{suffix}", key=key, height=68) or ""
    key = pickers.box(f"revision{side}")
    revision = second.text_input(f"Revision{suffix}", key=key, help=REVISION) or ""
    return {f"revision{side}": revision, f"pair{side}": pair}


def show_patterns(pickers: Pickers) -> None:
    """Attention patterns: all that can be shown of a model without terms."""
    try:
        run = live.run_request(text_probe.PatternsRequest.of(pickers.values()))
    except AddendError as problem:
        pickers.done()
        show.show_problem(problem)
        offer_truncation(pickers, problem)
        return
    layers, heads = run.patterns.shape[:2]
    pickers.slider("layer", "Layer", list(range(layers)))
    pickers.slider("head", "Head", list(range(heads)))
    values = pickers.done()
    show.copy_link("probe", values, without=("text", "pair"))
    show.show(live.figure("probe_patterns", values, run), "probe", values)


def offer_truncation(pickers: Pickers, problem: AddendError) -> None:
    """A button that cuts an over-long text to what the model can take."""
    if isinstance(problem, TextTooLong) and st.button("Cut the text and go on"):
        pickers.set("truncate", True)
        pickers.done()
        st.rerun()


def _offer_button(pickers: Pickers, label: str, value: Value, fields: Sequence[str]) -> None:
    """A button that sets fields to what every model can show, where something else was requested."""
    changed = [field for field in fields if pickers.get(field) != value]
    if changed and st.button(label):
        for field in changed:
            pickers.set(field, value)
        pickers.done()
        st.rerun()


def offer_ways_out(pickers: Pickers, problem: AddendError, *sides: str) -> None:
    """Buttons back to what every model has, where it was the method or the layer that failed."""
    if not isinstance(problem, NotInstalled):
        _offer_button(pickers, "Use method frozen", "frozen", [f"method{side}" for side in sides])
        offer_layer_0(pickers, *(f"layer{side}" for side in sides))


def offer_layer_0(pickers: Pickers, *fields: str) -> None:
    """A button to the layer that every model has."""
    _offer_button(pickers, "Use layer 0", 0, fields)


def links_to_positions(pickers: Pickers) -> None:
    """Links to the pages that show the positions of a model whose hidden states have none, with model and text."""
    entered = {name: pickers.get(name) for name in ("model", "revision", "text", "pair")}
    with st.container(horizontal=True):
        for page, label, icon in (
            ("positions", "Map its positions", "grid_on"),
            ("interventions", "Change its positions", "experiment"),
        ):
            st.page_link(
                f"views/{page}.py",
                label=label,
                icon=f":material/{icon}:",
                query_params=query_parameters(page, entered),
            )


def finish(status: Any, label: str) -> None:
    """Closes the status box of a run that has ended."""
    status.update(label=escape_markdown(label), state="complete", expanded=False)


def run_details(provenance: Any, tokens: int, timing: str = "") -> str:
    """The outcome of a run, in a line. timing: in place of its seconds."""
    timing = timing or f"{provenance.seconds:.2f} s"
    return f"{tokens} tokens, {provenance.device}, {provenance.dtype}, {timing}"


def fail(pickers: Pickers, status: Any, problem: AddendError) -> dict[str, Value]:
    """Closes the status box of a run that failed and says why. Returns the state of the page."""
    status.update(label="Nothing to show", state="error", expanded=False)
    values = pickers.done()
    show.show_problem(problem)
    return values


def saving_is_on() -> bool:
    """True if this server keeps probes: ADDEND_SAVE_PROBES, on unless it is 0."""
    return settings.switch("ADDEND_SAVE_PROBES")


def why_no_link(values: Mapping[str, Value]) -> str:
    """The reason why no link opens this probe, with a remedy; empty where one does."""
    remedy = (
        "Save the probe: its link carries an id instead."
        if saving_is_on()
        else "Saving probes is off on this server (ADDEND_SAVE_PROBES=0): shorten the text to get a link."
    )
    return held_texts.why_no_link("probe", values, remedy)


def save_button(pickers: Pickers, decomposition: Decomposition) -> None:
    """A button that saves the probe in the store, where a link can find it."""
    if decomposition.probe_id:
        return
    if not saving_is_on():
        st.button("Save probe", disabled=True, help="Saving is off on this server (ADDEND_SAVE_PROBES=0).")
        return
    if st.button(
        "Save probe", icon=":material/bookmark_add:", help="Stores the probe with its text, so that a link can open it."
    ):
        with show.reporting_problems():
            query_quota.count_save()
            _save(pickers, decomposition)


def _save(pickers: Pickers, decomposition: Decomposition) -> None:
    """Saves a probe and shows it."""
    probe_id = text_probe.save(decomposition)
    store_build.refresh()
    queries.ensure_store()
    # The id stands for model and text: a shared link need not show them.
    for name, default in pickers.view.defaults().items():
        if name in ("model", "revision", "text", "pair", "truncate"):  # not the layer: its slider is drawn
            pickers.set(name, default)
    pickers.set("probe", probe_id)
    pickers.done()
    st.rerun()
