"""The tab Layers: what the states of each layer are made of, and what its scores ask."""

from typing import Any

import streamlit as st

from analysis.core.errors import LinkError
from analysis.core.term_names import ADDED_TERMS
from analysis.figures.terms.measures import ORDER, term_label
from analysis.probes import text_probe
from dashboard.session import live
from dashboard.widgets import phone_fold, show
from dashboard.widgets.inside.run import PAGE, about, adds_up, look, measure, run, show_figure
from dashboard.widgets.pickers import Pickers

FIGURES = {"depth": "Against depth", "layers": "One term, every head"}


def draw(pickers: Pickers, facts: Any) -> None:
    """The tab. facts: the place of the line that is true of every figure."""
    if pickers.get("probe"):
        show.show_problem(LinkError("A saved probe keeps one layer. Send the form to see every layer of its text."))
        pickers.done()
        return
    result = run(pickers, lambda progress: live.run_request(text_probe.LayersRequest.of(pickers.values()), progress))
    layers, _, heads = result.values.shape
    error = adds_up(float(result.errors[:, 0].max()), "each of the model's own scores")
    about(result, result.tokens, f"{layers} layers of {heads} heads; {error}", facts)
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = look(pickers, FIGURES)
        with phone_fold.folded(PAGE, "measure"):
            measure(pickers)
    if shown == "layers":
        pickers.choice(
            "term", "Term", [term for term in (*ORDER, *ADDED_TERMS) if term in result.terms], term_label, width=260
        )
    values = pickers.done()
    show.copy_link(PAGE, values, without=("text", "pair"))
    show_figure(f"probe_{shown}", values, result, on_cell=pickers.cell_setter("layer", "head"))
    if shown == "layers":
        st.caption("Press a cell, then open Scores: it shows the maps of that layer and head.")
