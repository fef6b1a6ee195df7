"""The numbers behind the tab Scores: every map of a layer's heads, for a component that draws them in the browser.

They are those of the figures `probe_maps`, `probe_total` and `probe_cell`: a test compares every cell.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy import ndarray

from analysis.figures.terms.maps import (
    REST,
    MapParameters,
    four,
    row_range,
    score_limit,
    shown_head,
    viewed_head,
    visible_terms,
)
from analysis.figures.terms.measures import term_label
from analysis.measurements.terms.result import Decomposition, Layers
from analysis.measurements.terms.token_view import labels
from analysis.probes.text_probe import LONG

MOST_NUMBERS = 150_000
"""Numbers that are sent at once; where all heads of a layer have more, the shown head is sent alone."""
MOST_ROWS = LONG
"""Rows and columns of the longest text that is drawn whole; of a longer one, so many at a time."""
TOTALS = ("total", "pattern")
"""The maps after those of the terms: the model's own score, and attention after softmax."""


def _encoded(maps: Sequence[ndarray]) -> str:
    """Maps one after the other as base64 of little-endian float32."""
    return base64.b64encode(np.stack(maps).astype("<f4").tobytes()).decode()


def window(params: MapParameters, rows: int) -> MapParameters:
    """The parameters with at most `MOST_ROWS` rows, from the first one that the link asks for."""
    first, last = row_range(params, rows)
    if last - first < MOST_ROWS:
        return params
    return params.model_copy(update={"first_row": first, "last_row": first + MOST_ROWS - 1})


def _rounded(values: ndarray) -> list[Any]:
    """Numbers with four significant digits, as nested lists; None where one is undefined."""
    if values.ndim:
        return [_rounded(part) for part in values]
    number: Any = float(f"{float(values):.4g}") if np.isfinite(values) else None
    return number


def _head_maps(params: MapParameters, decomposition: Decomposition, terms: Sequence[str]) -> dict[str, object]:
    """One head: its parts, the sum of those that have no map, the total and the pattern; and its scale."""
    visible = visible_terms(decomposition)
    _, view = viewed_head(params, decomposition, visible)
    shown = view.part(*row_range(params, len(view.labels)))
    others = [shown.terms[term] for term in visible if term not in terms]
    rest = [np.sum(others, axis=0)] if others else []
    maps = [*(shown.terms[term] for term in terms), *rest, shown.total, shown.pattern]
    chosen = {term: view.terms[term] for term in terms}
    limit = score_limit(replace(view, terms=chosen, rest=view.total - np.sum(list(chosen.values()), axis=0)))
    return {"maps": _encoded(maps), "limit": float(f"{limit:.4g}")}


def _table(
    decomposition: Decomposition, terms: Sequence[str], measure: str, layers: Layers | None
) -> dict[str, object]:
    """A measure of the terms by layer and head: of every layer, or of the one that is shown."""
    if layers is not None and set(terms) <= set(layers.terms):
        values = layers.values[:, [layers.terms.index(term) for term in terms]]
        return {"first": 0, "values": _rounded(values)}
    by_term = decomposition.shares() if measure == "share" else decomposition.effects()
    return {"first": decomposition.layer, "values": _rounded(np.stack([by_term[term] for term in terms])[None])}


def score_maps(
    params: MapParameters,
    decomposition: Decomposition,
    *,
    measure: str,
    layers: Layers | None,
    colours: Mapping[str, str],
) -> dict[str, object]:
    """Everything that the component needs of one layer. colours: of the terms, and of `REST`.

    Raises LinkError for a head or rows that there are not.
    """
    visible = visible_terms(decomposition)
    terms = list(visible) if params.group == "all" else [term for term in four(decomposition) if term in visible]
    head = shown_head(params, decomposition)
    names = labels(decomposition.token_info, words=params.words, specials=params.specials)
    params = window(params, len(names))
    first, last = row_range(params, len(names))
    parts = [*terms, *([REST] if len(terms) < len(visible) else [])]
    rows = last - first + 1
    every = decomposition.heads * (len(parts) + len(TOTALS)) * rows**2 <= MOST_NUMBERS
    heads = range(decomposition.heads) if every else [head]
    shares = decomposition.shares()
    return {
        "layer": decomposition.layer,
        "layers": len(layers.values) if layers is not None else decomposition.layers or decomposition.layer + 1,
        "heads": decomposition.heads,
        "head": head,
        "tokens": names[first : last + 1],
        "first": first,
        "rows": len(names),
        "centred": params.centred,
        "parts": [{"name": part, "label": term_label(part), "colour": colours[part]} for part in parts],
        "terms": len(terms),
        "maps": {
            str(index): _head_maps(params.model_copy(update={"head": index}), decomposition, terms) for index in heads
        },
        "shares": [_rounded(shares[term]) for term in terms],
        "measure": measure,
        "table": _table(decomposition, terms, measure, layers),
        "error": float(f"{decomposition.max_error:.1e}"),
    }
