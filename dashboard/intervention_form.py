"""The form of the interventions page: model and text; what is done to the model, and how strongly."""

import re
from collections.abc import Callable

import streamlit as st

from analysis import embedded
from analysis.errors import TextTooLong
from analysis.figures.terms import ORDER as TERMS
from analysis.figures.terms import spoken
from analysis.interventions import INTERVENTIONS
from analysis.interventions.kinds.swap_positions import ENCODINGS
from analysis.interventions.request import ORDER
from analysis.sources import SCORE_BIAS
from dashboard.links import TEXT_LIMIT_BYTES
from dashboard.pickers import Pickers

SCALES = ("0", "0.25", "0.5", "0.75", "1.5", "2", "4", "-1")
FURTHEST = 64
SEEDS = 10


def text_form(picked: Pickers) -> None:
    """Asks for a model and a text; the URL changes when the form is sent."""
    with st.form("interventions.form", border=True):
        first, second = st.columns([3, 1])
        asked = {
            "model": first.text_input(
                "Model",
                picked.get("model"),
                help=f"{embedded.NAME} (embedded), a folder on this machine, or a Hugging Face id such as owner/name. "
                "Safetensors only; no code of a repository is ever run. With a head that predicts tokens, outcomes "
                "are its predictions.",
            ),
            "revision": second.text_input(
                "Revision", picked.get("revision"), help="A branch, tag or commit, on a hub."
            ),
            "text": st.text_area("Text", picked.get("text"), height=80),
            "pair": st.text_area("Second text (optional)", picked.get("pair"), height=68),
        }
        if st.form_submit_button("Run it", type="primary"):
            for name, value in asked.items():
                picked.set(name, value or "")
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
    asked = [strengths[name] for name in chosen if name in strengths]
    for column, ask in zip(st.columns(len(asked)) if asked else (), asked, strict=True):
        with column:
            ask()
    if "drop_terms" in chosen:
        known = (*TERMS, SCORE_BIAS)
        picked.set("terms", picked.several("terms", "Terms to drop (query → key)", known, known, spoken))
        first, second = st.columns(2)
        for column, name in ((first, "layers"), (second, "heads")):
            typed = column.text_input(f"In {name} (such as 0, 2; empty for all)", ", ".join(picked.get(name)))
            picked.set(name, tuple(re.findall(r"[^\s,]+", typed)))


def offer_truncation(picked: Pickers, problem: Exception) -> None:
    """A button that cuts an over-long text to what the model can take."""
    if isinstance(problem, TextTooLong) and st.button("Cut it and go on"):
        picked.set("truncate", True)
        picked.done()
        st.rerun()


def why_no_link(picked: Pickers) -> str:
    """Why a link cannot carry this text; empty when it can."""
    if len(f"{picked.get('text')}{picked.get('pair')}".encode()) <= TEXT_LIMIT_BYTES:
        return ""
    return f"The text is over {TEXT_LIMIT_BYTES // 1000} kB, too long for a link; shorten it."
