"""The form of the live probe: model, text, pair; saving, and cutting a text that is too long."""

import os

import streamlit as st

from analysis import catalogue, embedded, probes
from analysis.errors import AddendError, TextTooLong
from analysis.terms import Decomposition
from dashboard import queries
from dashboard.links import TEXT_LIMIT_BYTES
from dashboard.pickers import Pickers
from dashboard.plain import plain


def form(picked: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    saved = str(picked.get("probe"))
    if saved:
        st.info(f"Showing the saved probe {plain(saved)}. Send the form to probe anew.", icon=":material/bookmark:")
    with st.form("probe.form", border=True):
        first, second = st.columns([3, 1])
        model = first.text_input(
            "Model",
            picked.get("model"),
            help=f"{embedded.NAME} (embedded), a folder on this machine, or a Hugging Face id such as owner/name. "
            "Safetensors only; no code of a repository is ever run.",
        )
        revision = second.text_input("Revision", picked.get("revision"), help="A branch, tag or commit, on a hub.")
        text = st.text_area("Text", picked.get("text"), height=80)
        pair = st.text_area("Second text (optional)", picked.get("pair"), height=68)
        if st.form_submit_button("Take it apart", type="primary"):
            for name, value in {
                "model": model,
                "revision": revision,
                "text": text,
                "pair": pair,
            }.items():
                picked.set(name, value or "")
            picked.set("probe", "")
            picked.set("truncate", False)


def offer_truncation(picked: Pickers, problem: AddendError) -> None:
    """A button that cuts an over-long text to what the model can take."""
    if isinstance(problem, TextTooLong) and st.button("Cut it and go on"):
        picked.set("truncate", True)
        picked.done()
        st.rerun()


def saving_is_on() -> bool:
    """Whether this server keeps probes: ADDEND_SAVE_PROBES, on unless it is 0."""
    return os.environ.get("ADDEND_SAVE_PROBES", "1") != "0"


def why_no_link(made: Decomposition) -> str:
    """Why a link cannot carry this text, and what to do; empty when it can."""
    about = made.provenance
    if made.probe_id or len((about.text + (about.text_pair or "")).encode()) <= TEXT_LIMIT_BYTES:
        return ""
    remedy = (
        "Save the probe: its link carries an id instead."
        if saving_is_on()
        else "Saving probes is off on this server (ADDEND_SAVE_PROBES=0), so this view has no link; shorten the text."
    )
    return f"The text is over {TEXT_LIMIT_BYTES // 1000} kB, too long for a link. {remedy}"


def save_button(picked: Pickers, made: Decomposition) -> None:
    """Keeps the probe in the store, where a link can find it."""
    if made.probe_id:
        return
    if not saving_is_on():
        st.button("Save probe", disabled=True, help="Saving is off on this server (ADDEND_SAVE_PROBES=0).")
        return
    if st.button("Save probe", icon=":material/bookmark_add:", help="Writes it under data/probes, with its text."):
        probe_id = probes.save(made)
        catalogue.refresh()
        queries.ready()
        # The id stands for model and text: a shared link need not show them.
        for name, default in picked.view.defaults().items():
            if name in ("model", "revision", "text", "pair", "layer", "truncate"):
                picked.set(name, default)
        picked.set("probe", probe_id)
        picked.done()
        st.rerun()
