"""One cell of a head's maps: the contribution of each term to the score of one query with one key."""

import numpy as np
import pandas as pd

from analysis.ablation.variants import readable
from analysis.core.errors import LinkError
from analysis.core.formatting import signed
from analysis.figures.figure import STRONGEST, Figure, figure
from analysis.figures.terms.maps import (
    TERMS_RUN,
    MapParameters,
    ViewParameters,
    method_assumption,
    row_range,
    viewed_head,
    visible_terms,
    with_rest,
)
from analysis.figures.terms.measures import term_label
from analysis.figures.terms.term_marks import draw_bars
from analysis.measurements.terms.result import Decomposition
from analysis.measurements.terms.token_view import TokenView


def selected_cell(params: ViewParameters, view: TokenView, by: np.ndarray | None = None) -> tuple[int, int]:
    """The query and the key that a link asks for, by index; STRONGEST: where the attention of those shown is strongest.

    by: values, a row a query, of which the largest is taken instead of the strongest attention. Raises LinkError for
    one that is not among the rows shown.
    """
    first, last = row_range(params, len(view.labels))
    cell = {"query": params.query, "key": params.key}
    for name, index in cell.items():
        if index != STRONGEST and not first <= index <= last:
            raise LinkError(f"The link says {name}={index}; the rows shown are {first} to {last}.")
    ranges = [slice(first, last + 1) if index == STRONGEST else slice(index, index + 1) for index in cell.values()]
    pattern = (view.pattern if by is None else by)[ranges[0], ranges[1]]
    query, key = np.unravel_index(int(pattern.argmax()), pattern.shape)
    return ranges[0].start + int(query), ranges[1].start + int(key)


@figure("probe_cell", MapParameters, live=TERMS_RUN)
def probe_cell(params: MapParameters, decomposition: Decomposition) -> Figure:
    """The score of one query on one key as the sum of its terms."""
    terms = visible_terms(decomposition)
    head, view = viewed_head(params, decomposition, terms)
    query, key = selected_cell(params, view)
    values = {term: float(view.terms[term][query, key]) for term in terms}
    total, pattern = float(view.total[query, key]), float(view.pattern[query, key])
    frame = pd.DataFrame({"part": [*values, "total", "pattern"], "value": [*values.values(), total, pattern]})
    frame = frame.assign(query=query, key=key, query_token=view.labels[query], key_token=view.labels[key])
    query_label, key_label = f"{query} “{view.labels[query]}”", f"{key} “{view.labels[key]}”"
    kind = "key-centred score" if params.centred else "score before centring"
    parts = {**(values if params.group == "all" else with_rest(decomposition, values)), "total": total}
    bars = pd.DataFrame({"part": list(parts), "value": list(parts.values())})
    largest = max(values, key=lambda term: abs(values[term]))
    text = f"The largest term is {term_label(largest)}, {signed(values[largest], 4)}; the total is {signed(total, 4)}."
    return Figure(
        title=f"Head {head}, query {query_label} on key {key_label}",
        finding=text.removesuffix("."),
        frame=lambda: frame,
        caption=(
            f"What each term adds to the {kind} of this one query on this one key; "
            f"{readable(decomposition.provenance.model)}, layer {decomposition.layer}. {text} "
            f"Attention after softmax: {pattern:.4f}. {method_assumption(decomposition)}"
        ),
        alt=f"Bars, one a term. {text}",
        draw=lambda theme: [draw_bars(bars, kind, theme)],
    )
