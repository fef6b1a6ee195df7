"""Depth: what becomes of position and word from layer to layer."""

import streamlit as st

from analysis.ablation.variants import readable
from analysis.core.term_names import ADDED_TERMS, FOUR, TERMS
from analysis.figures.terms.measures import MEASURES, term_label
from dashboard.session import queries
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

PAGE = "depth"
PARTS = {
    "decoding": "Position and word decoded",
    "order": "Order and distance",
    "basis": "Position basis",
    "terms": "Terms",
}
FIGURES = {
    "decoding": ["depth_decoding"],
    "order": ["depth_equivariance", "depth_locality"],
    "basis": ["depth_basis"],
    "terms": ["depth_heads", "depth_cell", "depth_terms"],
}
VIEWS = {
    "decoding": "newest_decoding",
    "order": "newest_equivariance",
    "basis": "newest_means",
    "terms": "newest_terms",
}

show.header(
    PAGE,
    "Positions are added once, at the input. How deep into the model do they reach? This page follows them from layer "
    "to layer in four ways: what a decoder can read from the hidden states, what reordering the words changes and how "
    "far tokens attend, the mean hidden state at each position, and the terms of the attention scores.",
)
pickers = Pickers(PAGE)
part = pickers.segments("part", "Look at", list(PARTS), PARTS)
# Images have a page of their own.
TEXTS = "corpus IN (SELECT corpus FROM corpora)"
condition = f"WHERE {TEXTS}" if part == "terms" else ""
models = list(queries.rows(f"SELECT DISTINCT model FROM {VIEWS[part]} {condition} ORDER BY model").model)
if part == "terms":
    first, second, third, fourth = st.columns([2, 2, 3, 2])
    with first:
        model = pickers.choice("model", "Model", models, readable)
    corpora = queries.rows(
        f"SELECT DISTINCT corpus FROM newest_terms WHERE model = ? AND {TEXTS} ORDER BY corpus", [model]
    )
    with second:
        pickers.choice("corpus", "Over", list(corpora.corpus), {"probe_set": "the probe set"})
    with third:
        # A model without a source has terms of it that are zero everywhere.
        measured = queries.rows(
            "SELECT DISTINCT term FROM newest_terms WHERE model = ? AND corpus = ? AND rms > 0",
            [model, pickers.get("corpus")],
        )
        all_terms = [*FOUR, *(term for term in (*TERMS, *ADDED_TERMS) if term not in FOUR)]
        terms = [term for term in all_terms if term in set(measured.term)]
        pickers.choice("term", "Term", terms, term_label)
    with fourth:
        pickers.segments("measure", "Measure", list(MEASURES), {"share": "Share", "effect": "Effect"})
else:
    all_models = queries.rows(
        "SELECT DISTINCT model FROM newest_decoding UNION SELECT model FROM newest_means "
        "UNION SELECT model FROM newest_equivariance ORDER BY model"
    )
    pickers.several("models", "Models", models, list(all_models.model), readable)
values = pickers.done()
show.copy_link(PAGE, values)
for name in FIGURES[part]:
    with show.reporting_missing_results():
        figure = queries.figure(name, values)
        if name == "depth_heads":
            st.caption("Press a cell to see every term of its layer and head, below.")
        show.show(figure, PAGE, values, on_cell=pickers.cell_setter("at_layer", "at_head"), cell=("layer", "head"))
