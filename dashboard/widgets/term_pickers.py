"""Pickers of one head's maps: which rows are shown, and which cell."""

from collections.abc import Sequence

from analysis.figures.heatmap import MAX_NAMES
from analysis.figures.terms.cell import STRONGEST
from analysis.measurements.terms import Decomposition
from analysis.measurements.terms.token_view import labels
from dashboard.widgets.pickers import Pickers

CELL_WIDTH = 240
"""Pixels of a picker of one token."""
METHODS = ("frozen", "mean")
"""Methods that split hidden states into sources."""
METHOD_HELP = (
    "frozen follows word and position through the layers, with attention patterns and norms held at the model's own "
    "values; mean splits hidden states by averages over a reference text, where these are stored. At layer 0 the two "
    "need not agree."
)


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


def cell_pickers(pickers: Pickers, names: Sequence[str], strongest: str = "where attention is strongest") -> None:
    """One query and one key among the rows of the maps. strongest: the cell that is shown until one is chosen."""
    options = [STRONGEST, *range(len(names))]
    texts = {index: f"{index} {names[index]}" for index in options[1:]} | {STRONGEST: strongest}
    for name, label in (("query", "Query"), ("key", "Key")):
        pickers.choice(name, label, options, texts, width=CELL_WIDTH)


def row_names(pickers: Pickers, decomposition: Decomposition) -> list[str]:
    """The tokens of the maps as the reader has chosen to see them."""
    return labels(decomposition.token_info, words=bool(pickers.get("words")), specials=bool(pickers.get("specials")))
