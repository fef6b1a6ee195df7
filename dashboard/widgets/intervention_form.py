"""The form of the interventions page: model and text; what is done to the model, and how strongly."""

import re
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.term_names import ADDED_TERMS
from analysis.core.wavelengths import BANDS
from analysis.figures.terms.cell import STRONGEST
from analysis.figures.terms.data import ORDER as TERMS
from analysis.figures.terms.data import term_label
from analysis.measurements.interventions import INTERVENTIONS
from analysis.measurements.interventions.kinds.swap_positions import ENCODINGS
from analysis.measurements.interventions.result import InterventionResult
from analysis.probes import text_probe
from analysis.probes.intervention_probe import ORDER
from dashboard.session import live
from dashboard.session.markdown_escape import escape_markdown
from dashboard.widgets import show
from dashboard.widgets.pickers import Pickers

ANGLES, BASES = ("0.5", "1", "2", "3"), ("0.1", "0.25", "1", "4", "10", "100")
SWAPS = {f"{one}+{other}": f"{BANDS[one]} and {BANDS[other]}" for one, other in combinations(range(len(BANDS)), 2)}
SCALES = ("0", "0.25", "0.5", "0.75", "1.5", "2", "4", "-1")
FURTHEST = 64
SEEDS = 10


def intervention_pickers(picked: Pickers) -> None:
    """Which interventions, and the strength of each that has one."""
    titles = {name: INTERVENTIONS[name].title for name in ORDER}
    chosen = picked.pressed("do", "Interventions (several apply together, in this order)", ORDER, ORDER, titles)
    picked.set("do", chosen)  # without what a link names and nobody knows
    for name in chosen:
        st.caption(f"**{titles[name]}.** {INTERVENTIONS[name].summary}")
    strengths: dict[str, Callable[[], object]] = {
        "one_position": lambda: picked.slider("position", "Position of every token", list(range(32))),
        "shuffle_positions": lambda: picked.slider("seed", "Seed of the shuffle", list(range(SEEDS))),
        "shift_positions": lambda: picked.slider("by", "Shift by", list(range(FURTHEST + 1))),
        "scale_positions": lambda: picked.choice("scale", "Scale by", SCALES),
        "swap_positions": lambda: picked.choice("encoding", "Replace by", list(ENCODINGS), ENCODINGS),
        "turn_all": lambda: picked.choice("angle", "Rotate by (radians)", ANGLES),
        "scale_base": lambda: picked.choice("base", "Multiply the base by", BASES),
        "swap_bands": lambda: picked.choice("bands", "Wavelengths to swap (tokens)", list(SWAPS), SWAPS),
        "drop_positions": lambda: picked.slider("without", "Layer without positions (-1: all)", list(range(-1, 32))),
        "freeze_distance": lambda: picked.slider(
            "apart", "Distance of every earlier key (tokens)", list(range(FURTHEST + 1))
        ),
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


def one_cell(values: Mapping[str, Any], made: InterventionResult) -> None:
    """The cell of the maps that was pressed: attention before and after, and the terms of the score before."""
    query, key, head = (int(values[name]) for name in ("query", "key", "head"))
    if STRONGEST in (query, key):
        return
    try:
        before = live.run_request(text_probe.TermsRequest.of(values))
        figure = live.figure("probe_cell", values, before)
    except AddendError as problem:
        st.info(escape_markdown(str(problem)))
        return
    sentence = (
        f"“{made.tokens[query]}” attends to “{made.tokens[key]}” with probability {made.before[head, query, key]:.3f} "
        f"before and {made.after[head, query, key]:.3f} after. Before, these terms add up to its score:"
    )
    st.markdown(escape_markdown(sentence))
    show.show(figure, "interventions", values)
