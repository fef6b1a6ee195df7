"""The form of the interventions page: model and text; what is done to the model, and how strongly."""

import re
from collections.abc import Callable, Collection, Mapping
from itertools import combinations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from analysis.core.term_names import ADDED_TERMS
from analysis.core.wavelengths import BANDS
from analysis.figures.terms.measures import ORDER as TERMS, term_label
from analysis.measurements.interventions import INTERVENTIONS
from analysis.measurements.interventions.kinds.swap_positions import ENCODINGS
from analysis.probes.intervention_probe import MOVERS, ORDER, ZERO
from dashboard.widgets.pickers import Pickers

ANGLES, BASES = ("0.5", "1", "2", "3"), ("0.1", "0.25", "1", "4", "10", "100")
SWAPS = {
    f"{first}+{second}": f"{BANDS[first]} and {BANDS[second]}" for first, second in combinations(range(len(BANDS)), 2)
}
SCALES = ("0", "0.25", "0.5", "0.75", "1.5", "2", "4", "-1")
MAX_DISTANCE = 64
SEEDS = 10


MOST_USED = "Most used"
GROUPS = {
    MOST_USED: ("zero_positions", "shuffle_positions", "shift_positions", "scale_positions", "drop_terms"),
    "Move": ("one_position", "swap_bands", "freeze_distance"),
    "Replace": ("swap_positions", "scale_base", "turn_all"),
    "Remove": ("drop_positions", "zero_segment"),
}
"""The interventions: those that most readers want, and the others by what they do."""


def _replaced(chosen: Collection[str], pressed: Collection[str]) -> set[str]:
    """Those of the chosen changes that the ones just pressed replace: beside zero positions no other change acts."""
    if ZERO in pressed:
        return set(MOVERS)
    return {ZERO} if ZERO in chosen and set(MOVERS) & set(pressed) else set()


def _groups(pickers: Pickers, titles: Mapping[str, str], row: DeltaGenerator) -> tuple[str, ...]:
    """Buttons of interventions, of which several may be pressed: they apply together; the less used ones are folded.

    One that could not act beside another takes its place.

    row: where they stand. Returns the pressed ones in their order.
    """
    chosen = pickers.known("do", ORDER)
    pickers.set("do", chosen)  # without what a link names and nobody knows
    place = row
    for group, names in GROUPS.items():
        key = f"{pickers.view.page}.do.{group}"
        st.session_state[key] = [name for name in names if name in chosen]

        def update(key: str = key, names: tuple[str, ...] = names) -> None:
            before = set(pickers.get("do"))
            kept = {*st.session_state[key], *(name for name in before if name not in names)}
            pickers.set("do", tuple(name for name in ORDER if name in kept - _replaced(kept, kept - before)))

        with place:
            st.pills(
                group,
                names,
                default=st.session_state[key],
                format_func=titles.__getitem__,
                selection_mode="multi",
                key=key,
                on_change=update,
                wrap=True,
                label_visibility="collapsed" if group == MOST_USED else "visible",
            )
        if group == MOST_USED:
            folded = sum(name not in names for name in chosen)
            label = f"Other changes: {folded} chosen" if folded else "Other changes"
            place = row.popover(label, key=f"{pickers.view.page}.other_changes")
    return tuple(name for name in ORDER if name in chosen)


def intervention_pickers(pickers: Pickers, row: DeltaGenerator) -> None:
    """The interventions chosen, in a row of buttons, and below it the strength of each that has one."""
    titles = {name: INTERVENTIONS[name].title for name in ORDER}
    chosen = _groups(pickers, titles, row)
    idle = MOVERS if ZERO in chosen else ()
    for name in chosen:
        no_effect = f"It has no effect beside “{titles[ZERO]}”; take that away to see what it does."
        st.caption(f"**{titles[name]}.** {no_effect if name in idle else INTERVENTIONS[name].summary}")
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
    strength_pickers = [strengths[name] for name in chosen if name in strengths and name not in idle]
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
