"""The pickers that the terms and probe pages share: which head, and how its maps are shown."""

from collections.abc import Sequence

import streamlit as st

from analysis.figures.heatmap import MAX_NAMES
from analysis.figures.terms.cell import STRONGEST
from analysis.measurements.terms import Decomposition
from analysis.measurements.terms.token_view import labels
from dashboard.widgets.pickers import Pickers

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
        names = {"four": "The four terms of word and position", "all": "All"}
        picked.segments("group", "Terms", list(names), names)
    map_ways(picked)


def part_pickers(picked: Pickers, decomposition: Decomposition) -> None:
    """Which rows of the maps are shown. Up to 64 they have names, and cells that tell their value."""
    names = row_names(picked, decomposition)
    picked.span(
        "from",
        "to",
        "Rows and columns of the maps",
        len(names),
        help=f"Maps of at most {MAX_NAMES} rows name their tokens and show the value of the cell under the pointer.",
    )


def cell_pickers(picked: Pickers, names: Sequence[str], first: int = 0, last: int = -1) -> None:
    """One query and one key among the rows `first` to `last` of the maps, whose names are given; -1: to the last."""
    options = [STRONGEST, *range(first, len(names) if last == -1 else last + 1)]
    shown = {
        index: "where attention is strongest" if index == STRONGEST else f"{index} {names[index]}" for index in options
    }
    for place, (name, label) in zip(st.columns(2), (("query", "Query"), ("key", "Key")), strict=True):
        with place:
            picked.choice(name, label, options, shown)


def row_names(picked: Pickers, decomposition: Decomposition) -> list[str]:
    """The tokens of the maps as the reader has chosen to see them."""
    return labels(decomposition.token_info, words=bool(picked.get("words")), specials=bool(picked.get("specials")))


def map_ways(picked: Pickers) -> None:
    """The three ways of looking at a map."""
    with st.container(horizontal=True, gap="medium"):
        picked.toggle("centred", "Key-centred", help="Softmax ignores what is constant along the keys of a query.")
        picked.toggle("words", "Whole words", help="Merge word pieces: scores averaged, attention to pieces summed.")
        picked.toggle("specials", "Special tokens", help="Show [CLS] and [SEP]. They take part either way.")
