"""The form of the interventions page: model and text; what is done to the model, and how strongly."""

import re
from collections.abc import Callable

import streamlit as st

from analysis.core.term_names import ADDED_TERMS
from analysis.figures.terms.data import ORDER as TERMS
from analysis.figures.terms.data import term_label
from analysis.measurements.interventions import INTERVENTIONS
from analysis.measurements.interventions.kinds.swap_positions import ENCODINGS
from analysis.probes.intervention_probe import ORDER
from dashboard.widgets import probe_form
from dashboard.widgets.pickers import Pickers

SCALES = ("0", "0.25", "0.5", "0.75", "1.5", "2", "4", "-1")
FURTHEST = 64
SEEDS = 10


def text_form(picked: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    with st.form("interventions.form", border=True):
        request, sent = probe_form.text_inputs(
            picked, "Run it", more=" With a head that predicts tokens, outcomes are its predictions."
        )
        if sent:
            for name, value in request.items():
                picked.typed(name, value)
            picked.set("truncate", False)


def intervention_pickers(picked: Pickers) -> None:
    """Which interventions, and the strength of each that has one."""
    titles = {name: INTERVENTIONS[name].title for name in ORDER}
    chosen = picked.pressed("do", "What is done (several apply together, in this order)", ORDER, ORDER, titles)
    picked.set("do", chosen)  # without what a link names and nobody knows
    for name in chosen:
        st.caption(f"**{titles[name]}.** {INTERVENTIONS[name].summary}")
    strengths: dict[str, Callable[[], object]] = {
        "one_position": lambda: picked.slider("position", "The position of all", list(range(32))),
        "shuffle_positions": lambda: picked.slider("seed", "Seed of the shuffle", list(range(SEEDS))),
        "shift_positions": lambda: picked.slider("by", "Shift by", list(range(FURTHEST + 1))),
        "scale_positions": lambda: picked.choice("scale", "Scale by", SCALES),
        "swap_positions": lambda: picked.choice("encoding", "Replaced by", list(ENCODINGS), ENCODINGS),
    }
    request = [strengths[name] for name in chosen if name in strengths]
    for column, ask in zip(st.columns(len(request)) if request else (), request, strict=True):
        with column:
            ask()
    if "drop_terms" in chosen:
        known = (*TERMS, *ADDED_TERMS)
        picked.set("terms", picked.several("terms", "Terms to drop (query → key)", known, known, term_label))
        first, second = st.columns(2)
        for column, name in ((first, "layers"), (second, "heads")):
            key = picked.box(name, ", ".join(picked.get(name)))
            typed = column.text_input(f"In {name} (such as 0, 2; empty for all)", key=key)
            picked.typed(name, tuple(re.findall(r"[^\s,]+", typed)))
