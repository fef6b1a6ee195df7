"""The form of the interventions page: model and text; what is done to the model, and how strongly."""

import re
from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import streamlit as st

from analysis.core.errors import AddendError
from analysis.core.term_names import ADDED_TERMS
from analysis.core.wavelengths import BANDS
from analysis.figures.figure import STRONGEST
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
SWAPS = {
    f"{first}+{second}": f"{BANDS[first]} and {BANDS[second]}" for first, second in combinations(range(len(BANDS)), 2)
}
SCALES = ("0", "0.25", "0.5", "0.75", "1.5", "2", "4", "-1")
MAX_DISTANCE = 64
SEEDS = 10


def intervention_pickers(pickers: Pickers) -> None:
    """The interventions chosen, and the strength of each that has one."""
    titles = {name: INTERVENTIONS[name].title for name in ORDER}
    chosen = pickers.buttons("do", "Interventions (several apply together, in this order)", ORDER, ORDER, titles)
    pickers.set("do", chosen)  # without what a link names and nobody knows
    for name in chosen:
        st.caption(f"**{titles[name]}.** {INTERVENTIONS[name].summary}")
    strengths: dict[str, Callable[[], object]] = {
        "one_position": lambda: pickers.slider("position", "Position of every token", list(range(32))),
        "shuffle_positions": lambda: pickers.slider("seed", "Seed of the shuffle", list(range(SEEDS))),
        "shift_positions": lambda: pickers.slider("by", "Shift by", list(range(MAX_DISTANCE + 1))),
        "scale_positions": lambda: pickers.choice("scale", "Scale by", SCALES),
        "swap_positions": lambda: pickers.choice("encoding", "Replace by", list(ENCODINGS), ENCODINGS),
        "turn_all": lambda: pickers.choice("angle", "Rotate by (radians)", ANGLES),
        "scale_base": lambda: pickers.choice("base", "Multiply the base by", BASES),
        "swap_bands": lambda: pickers.choice("bands", "Wavelengths to swap (tokens)", list(SWAPS), SWAPS),
        "drop_positions": lambda: pickers.slider("without", "Layer without positions (-1: all)", list(range(-1, 32))),
        "freeze_distance": lambda: pickers.slider(
            "apart", "Distance of every earlier key (tokens)", list(range(MAX_DISTANCE + 1))
        ),
    }
    strength_pickers = [strengths[name] for name in chosen if name in strengths]
    for column, draw_picker in zip(
        st.columns(len(strength_pickers)) if strength_pickers else (), strength_pickers, strict=True
    ):
        with column:
            draw_picker()
    if "drop_terms" in chosen:
        known = (*TERMS, *ADDED_TERMS)
        pickers.set("terms", pickers.several("terms", "Terms to drop (query → key)", known, known, term_label))
        first, second = st.columns(2)
        for column, name in ((first, "layers"), (second, "heads")):
            key = pickers.box(name, ", ".join(pickers.get(name)))
            text = column.text_input(f"In {name} (such as 0, 2; empty for all)", key=key)
            pickers.typed(name, tuple(re.findall(r"[^\s,]+", text)))


def show_cell(values: Mapping[str, Any], result: InterventionResult) -> None:
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
        f"“{result.tokens[query]}” attends to “{result.tokens[key]}” with probability "
        f"{result.before[head, query, key]:.3f} before and {result.after[head, query, key]:.3f} after. Before, these "
        "terms add up to its score:"
    )
    st.markdown(escape_markdown(sentence))
    show.show(figure, "interventions", values)
