"""The form of the live probe: model, text, pair; saving, and cutting a text that is too long."""

import os

import streamlit as st

from analysis import catalogue, probes
from analysis.errors import AddendError, TextError
from analysis.models import embedded
from analysis.terms import Decomposition
from dashboard import queries
from dashboard.pickers import Pickers

START = "The keys to the old cabinet are on the table."


def form(picked: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    saved = str(picked.get("probe"))
    if saved:
        st.info(f"Showing the saved probe {saved}. Send the form to probe anew.", icon=":material/bookmark:")
    with st.form("probe.form", border=True):
        first, second, third = st.columns([3, 1, 1])
        model = first.text_input(
            "Model",
            picked.get("model"),
            help=f"{embedded.NAME} (embedded), a folder on this machine, or a Hugging Face id such as owner/name. "
            "BERT architectures; safetensors only; no code of a repository is ever run.",
        )
        revision = second.text_input("Revision", picked.get("revision"), help="A branch, tag or commit, on a hub.")
        layer = third.number_input("Layer", 0, None, picked.get("layer"), help="Layer 0 is exact.")
        text = st.text_area("Text", picked.get("text") or START, height=80)
        pair = st.text_area("Second text (optional)", picked.get("pair"), height=68)
        if st.form_submit_button("Take it apart", type="primary"):
            for name, value in {
                "model": model,
                "revision": revision,
                "layer": int(layer),
                "text": text,
                "pair": pair,
            }.items():
                picked.set(name, value)
            picked.set("probe", "")
            picked.set("truncate", False)
    if not picked.get("text"):
        picked.set("text", text)
    picked.get("truncate")


def offer_truncation(picked: Pickers, problem: AddendError) -> None:
    """A button that cuts an over-long text to what the model can take."""
    if isinstance(problem, TextError) and "positions" in str(problem) and st.button("Cut it and go on"):
        picked.set("truncate", True)
        picked.done()
        st.rerun()


def save_button(picked: Pickers, made: Decomposition) -> None:
    """Keeps the probe in the store, where a link can find it."""
    if made.probe_id:
        return
    if os.environ.get("ADDEND_SAVE_PROBES", "1") == "0":
        st.button("Save probe", disabled=True, help="Saving is off on this server (ADDEND_SAVE_PROBES=0).")
        return
    if st.button("Save probe", icon=":material/bookmark_add:", help="Writes it under data/probes, with its text."):
        probe_id = probes.save(made)
        catalogue.refresh()
        queries.ready()
        for name in ("text", "pair"):
            picked.set(name, "")
        picked.set("probe", probe_id)
        picked.done()
        st.rerun()
