"""The measures of attention's terms, the terms' names, and the sentences that explain them."""

from typing import Annotated

import pandas as pd

from analysis.core.formatting import join_names, ranges
from analysis.core.term_names import FOUR, TERMS
from analysis.figures.figure import Parameters, one_of

NEGLIGIBLE = 0.005
"""A share or an effect below this is printed as 0.00."""
ORDER = (*FOUR, *(term for term in TERMS if term not in FOUR))
"""The four terms that the question is about, then the other twelve."""
MEASURES = {"share": "share of the key-centred scores", "effect": "effect on the pattern (KL, nats)"}
AGGREGATIONS = {"mean_over_heads": "mean over heads", "pooled_over_heads": "pooled over heads"}
CITATION_KEYS = ("ke2021tupe", "reimers2019sbert")
TERM = "term (query → key)"
"""The title of an axis or a column of terms."""
FREEZE_LABELS = {"activation": "activation", "other": "other factor", "half": "mean of both ways"}


def term_label(term: str) -> str:
    """word_to_position as "word → position": query first."""
    return term.replace("_to_", " → ").replace("_", " ")


class MeasureParameters(Parameters):
    """measure: a term's share of the scores or its effect on the pattern."""

    measure: Annotated[str, one_of(MEASURES)]


def measure_note(measure: str, *, coloured: bool = True) -> str:
    """A sentence that explains how to read a measure. coloured: whether colours show its values."""
    if measure == "share":
        adds = "green adds" if coloured else "a positive one adds"
        return f"Shares of a head sum to 1 and may be negative; {adds} to the scores' variance along keys."
    return "Mean over queries of KL(pattern ‖ pattern without the term); effects do not add up over terms."


def assumption_note(layer: int, freeze: str) -> str:
    """A sentence on the assumptions made at a layer. freeze: a key of FREEZE_LABELS; empty if there are no gates."""
    if layer == 0:
        return "Layer 0 is exact: only the statistics of norms before its scores are held."
    gates = f", of gated units the {FREEZE_LABELS[freeze]}" if freeze else ""
    return (
        f"Method frozen: patterns, norms' statistics and gates{gates} are held at the values they have in the model; "
        "what position "
        "does through the patterns is not credited to it."
    )


def leading_by_layer(lead: pd.DataFrame) -> str:
    """A sentence that names the largest term at each layer. lead: layers by labels of terms."""
    largest = lead.idxmax(axis=1)
    parts = [
        f"{label} at {'layer' if (largest == label).sum() == 1 else 'layers'} {ranges(largest.index[largest == label])}"
        for label in dict.fromkeys(largest)
    ]
    return f"Mean over heads, the largest of the terms of word and position is {join_names(parts)}"
