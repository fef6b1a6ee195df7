"""The numbers behind the tab Scores: every map of a layer's heads, for a component that draws them in the browser.

They are those of the figures `probe_maps`, `probe_total` and `probe_cell`: a test compares every cell.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.figures.terms.corpus import over_texts
from analysis.figures.terms.maps import (
    REST,
    MapParameters,
    leading_term,
    mapped_terms,
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
EXPLAINED = {
    "segment": "the text of a pair",
    "bias": "of projections and norms",
    "residual": "what the averages leave over",
    "mean": "the average of all hidden states",
}
"""Sources whose products have no map at first -> their meaning."""


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


def rest_note(others: Sequence[str]) -> str:
    """A sentence on the terms that have no map of their own."""
    sources = dict.fromkeys(source for term in others for source in term.split("_to_") if source in EXPLAINED)
    names = " or ".join(f"{name} ({EXPLAINED[name]})" for name in sources)
    count = "The product" if len(others) == 1 else f"The {len(others)} products"
    return f"{count} with {names}."


def _opening(terms: Mapping[str, ndarray], rest: Sequence[ndarray], total: ndarray, pattern: ndarray, term: str) -> Any:
    """The row and column where attention is strongest of those that `term` adds most to; None where there is none."""
    others = [np.abs(values) for name, values in terms.items() if name != term]
    most = np.max([*others, *map(np.abs, rest)], axis=0) if others or rest else np.zeros_like(total)
    leads = (terms[term] > most) & (total > 0)
    row, column = np.unravel_index(int(np.where(leads, pattern, -1).argmax()), pattern.shape)
    return [int(row), int(column)] if leads.any() else None


def opening_cell(params: MapParameters, decomposition: Decomposition) -> tuple[int, int]:
    """The query and key that the maps open on; -1 and -1 where no cell is led by the head's leading term."""
    terms = _mapped(params, decomposition)
    params = window(params, len(labels(decomposition.token_info, words=params.words, specials=params.specials)))
    cell: Any = _head_maps(params, decomposition, terms)["open"]
    return (-1, -1) if cell is None else (params.first_row + cell[0], params.first_row + cell[1])


def _mapped(params: MapParameters, decomposition: Decomposition) -> list[str]:
    """The terms that have a map of their own in one head of the layer, and the one that the link names."""
    terms = mapped_terms(params, decomposition, range(decomposition.heads))
    return [term for term in visible_terms(decomposition) if term in terms or term == params.term]


def _head_maps(params: MapParameters, decomposition: Decomposition, terms: Sequence[str]) -> dict[str, object]:
    """One head: its parts, the sum of those that have no map, the total and the pattern; its scale; where it opens.

    own: the places of its own maps among `terms`. lead: the place of the one that is drawn large.
    """
    visible = visible_terms(decomposition)
    head, view = viewed_head(params, decomposition, visible)
    own = mapped_terms(params, decomposition, [head])
    leading = leading_term(decomposition, head)
    shown = view.part(*row_range(params, len(view.labels)))
    others = [shown.terms[term] for term in visible if term not in terms]
    rest = [np.sum(others, axis=0)] if others else []
    maps = [*(shown.terms[term] for term in terms), *rest, shown.total, shown.pattern]
    chosen = {term: view.terms[term] for term in own}
    limit = score_limit(replace(view, terms=chosen, rest=view.total - np.sum(list(chosen.values()), axis=0)))
    opening = _opening({term: shown.terms[term] for term in terms}, rest, shown.total, shown.pattern, leading)
    return {
        "maps": base64.b64encode(np.stack(maps).astype("<f4").tobytes()).decode(),
        "limit": float(f"{limit:.4g}"),
        "open": opening,
        "own": [terms.index(term) for term in own],
        "lead": terms.index(leading),
    }


def _table(
    decomposition: Decomposition, terms: Sequence[str], measure: str, layers: Layers | None
) -> dict[str, object]:
    """A measure of the terms by layer and head: of every layer, or of the one that is shown."""
    if layers is not None and set(terms) <= set(layers.terms):
        values = layers.values[:, [layers.terms.index(term) for term in terms]]
        return {"first": 0, "values": _rounded(values)}
    by_term = decomposition.shares() if measure == "share" else decomposition.effects()
    return {"first": decomposition.layer, "values": _rounded(np.stack([by_term[term] for term in terms])[None])}


def _over_texts(decomposition: Decomposition, terms: Sequence[str], measure: str, table: Mapping[str, Any]) -> Any:
    """The measure over our own texts in the places of the table, and their number; None where it is not stored."""
    about = decomposition.provenance
    rows = over_texts(about.model, about.revision) if decomposition.method != "mean" else pd.DataFrame()
    if rows.empty:
        return None
    values = rows.set_index(["layer", "term", "head"])[measure]
    first, layers = table["first"], len(table["values"])
    places = pd.MultiIndex.from_product([range(first, first + layers), terms, range(decomposition.heads)])
    by_place = values[~values.index.duplicated()].reindex(places).to_numpy(dtype=float)
    return {
        "texts": int(rows.texts.max()),
        "values": _rounded(by_place.reshape(layers, len(terms), decomposition.heads)),
    }


def score_maps(
    params: MapParameters,
    decomposition: Decomposition,
    *,
    measure: str,
    layers: Layers | None,
    colours: Mapping[str, str],
) -> dict[str, Any]:
    """Everything that the component needs of one layer. colours: of the terms, and of `REST`.

    Raises LinkError for a head or rows that there are not.
    """
    visible = visible_terms(decomposition)
    terms = _mapped(params, decomposition)
    head = shown_head(params, decomposition)
    names = labels(decomposition.token_info, words=params.words, specials=params.specials)
    params = window(params, len(names))
    first, last = row_range(params, len(names))
    others = [term for term in visible if term not in terms]
    parts = [*terms, *([REST] if others else [])]
    rows = last - first + 1
    every = decomposition.heads * (len(parts) + len(TOTALS)) * rows**2 <= MOST_NUMBERS
    heads = range(decomposition.heads) if every else [head]
    shares = decomposition.shares()
    table = _table(decomposition, terms, measure, layers)
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
        "rest": rest_note(others) if others else "",
        "terms": len(terms),
        "maps": {
            str(index): _head_maps(params.model_copy(update={"head": index}), decomposition, terms) for index in heads
        },
        "shares": [_rounded(shares[term]) for term in terms],
        "measure": measure,
        "table": table,
        "many": _over_texts(decomposition, terms, measure, table),
        "error": float(f"{decomposition.max_error:.1e}"),
    }
