"""The pickers that the terms and probe pages share: which head, and how its maps are shown."""

import streamlit as st

from dashboard.pickers import Pickers

METHODS = {"frozen": "frozen", "mean": "mean"}
"""How hidden states are split into sources."""


def map_pickers(picked: Pickers, heads: int) -> None:
    """Head, terms, and the three ways of looking at a map."""
    if heads < 1:
        return
    first, second = st.columns([2, 3])
    with first:
        picked.slider("head", "Head", list(range(heads)))
    with second:
        names = {"four": "The four of word and position", "all": "All"}
        picked.segments("group", "Terms", list(names), names)
    map_ways(picked)


def map_ways(picked: Pickers) -> None:
    """The three ways of looking at a map."""
    with st.container(horizontal=True, gap="medium"):
        picked.toggle("centred", "Key-centred", help="Softmax ignores what is constant along the keys of a query.")
        picked.toggle("words", "Whole words", help="Merge word pieces: scores averaged, attention to pieces summed.")
        picked.toggle("specials", "Special tokens", help="Show [CLS] and [SEP]. They take part either way.")
