"""Pickers of one head's maps: which rows are shown, and which cell."""

from collections.abc import Sequence

import streamlit as st

from analysis.figures.heatmap import MAX_NAMES
from analysis.figures.terms.cell import STRONGEST
from analysis.measurements.terms import Decomposition
from analysis.measurements.terms.token_view import labels
from dashboard.widgets.pickers import Pickers

METHODS = {"frozen": "frozen", "mean": "mean"}
"""Methods that split hidden states into sources."""


def part_pickers(pickers: Pickers, decomposition: Decomposition) -> None:
    """The rows of the maps that are shown: only few rows have names, and cells that show their value."""
    names = row_names(pickers, decomposition)
    pickers.span(
        "from",
        "to",
        "Rows and columns of the maps",
        len(names),
        help=f"Maps of at most {MAX_NAMES} rows name their tokens and show the value of the cell under the pointer.",
    )


def cell_pickers(pickers: Pickers, names: Sequence[str], first: int = 0, last: int = -1) -> None:
    """One query and one key among the rows `first` to `last` of the maps; -1: the last one."""
    options = [STRONGEST, *range(first, len(names) if last == -1 else last + 1)]
    texts = {index: f"{index} {names[index]}" for index in options[1:]} | {STRONGEST: "where attention is strongest"}
    for column, (name, label) in zip(st.columns(2), (("query", "Query"), ("key", "Key")), strict=True):
        with column:
            pickers.choice(name, label, options, texts)


def row_names(pickers: Pickers, decomposition: Decomposition) -> list[str]:
    """The tokens of the maps as the reader has chosen to see them."""
    return labels(decomposition.token_info, words=bool(pickers.get("words")), specials=bool(pickers.get("specials")))
