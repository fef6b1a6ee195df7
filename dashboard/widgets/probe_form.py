"""The form of the live probe: model, text, pair; saving, and cutting a text that is too long."""

from collections.abc import Mapping, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis import store_build
from analysis.ablation.variants import readable
from analysis.core import default_model, settings
from analysis.core.errors import AddendError, ModelNotFound, NotInstalled, TextTooLong
from analysis.links import Value
from analysis.measurements.terms import Decomposition
from analysis.probes import text_probe
from analysis.store import checkpoints
from dashboard.session import current_store, held_texts, live, query_quota
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

REVISION = "A branch, tag or commit, on a hub."


def stored_buttons(pickers: Pickers, stored: Mapping[str, tuple[str, str]]) -> None:
    """Buttons that fill the form with what the store holds. stored: model -> its revision, and the text.

    The one of what is shown is pressed, so this is called when the page knows what it shows.
    """
    key = f"{pickers.view.page}.stored_maps"
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


def model_box(pickers: Pickers, column: DeltaGenerator, side: str = "", *, suffix: str = "") -> str:
    """The box for a model's name. side: the side of a comparison; suffix: what its label says besides."""
    help = (
        f"{default_model.NAME} (embedded), one of our own ({', '.join(checkpoints.names())}), {live.folder_hint()}or a "
        "Hugging Face id such as owner/name. Only safetensors are read, and no code from a repository is ever run."
    )
    empty = "as on the left" if side else None
    return column.text_input(f"Model{suffix}", key=pickers.box(f"model{side}"), help=help, placeholder=empty) or ""


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
    """Buttons back to what every model has, where it was the method or the layer that failed; or to another model."""
    if isinstance(problem, ModelNotFound):
        _offer_button(pickers, "Compare no other model", "", ["model2"])
        _offer_button(pickers, f"Use {default_model.NAME}", default_model.NAME, ["model"])
    elif not isinstance(problem, NotInstalled):
        _offer_button(pickers, "Use method frozen", "frozen", [f"method{side}" for side in sides])
        offer_layer_0(pickers, *(f"layer{side}" for side in sides))


def offer_layer_0(pickers: Pickers, *fields: str) -> None:
    """A button to the layer that every model has."""
    _offer_button(pickers, "Use layer 0", 0, fields)


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
    return held_texts.why_no_link("inside", values, remedy)


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
    current_store.ensure()
    # The id stands for model and text: a shared link need not show them.
    for name, default in pickers.view.defaults().items():
        if name in ("model", "revision", "text", "pair", "truncate"):  # not the layer: its slider is drawn
            pickers.set(name, default)
    pickers.set("probe", probe_id)
    pickers.done()
    st.rerun()
