"""One cell of a head's maps: what each term adds to the score of one query on one key."""

import numpy as np
import pandas as pd

from analysis import probes
from analysis.errors import LinkError
from analysis.figures.base import Figure, Params, figure
from analysis.figures.one_run import facts
from analysis.figures.term_maps import arranged, assumed, rows_of, shown
from analysis.figures.terms import CITE, spoken
from analysis.figures.words import signed
from analysis.terms.arrange import Arranged
from analysis.terms.result import Decomposition

STRONGEST = -1


def place(params: Params, view: Arranged) -> tuple[int, int]:
    """The query and the key that a link asks for, by index; STRONGEST: where the attention of those shown is strongest.

    Raises LinkError for one that is not among the rows shown.
    """
    first, last = rows_of(params, len(view.labels))
    asked = {name: int(params.get(name, STRONGEST)) for name in ("query", "key")}
    for name, index in asked.items():
        if index != STRONGEST and not first <= index <= last:
            raise LinkError(f"The link says {name}={index}; the rows shown are {first} to {last}.")
    inside = [slice(first, last + 1) if index == STRONGEST else slice(index, index + 1) for index in asked.values()]
    pattern = view.pattern[inside[0], inside[1]]
    query, key = np.unravel_index(int(pattern.argmax()), pattern.shape)
    return inside[0].start + int(query), inside[1].start + int(key)


@figure("probe_cell", live=probes.obtain)
def probe_cell(params: Params, made: Decomposition) -> Figure:
    """The score of one query on one key as the sum of its terms."""
    terms = shown(made)
    head, view = arranged(params, made, terms)
    query, key = place(params, view)
    values = {term: float(view.terms[term][query, key]) for term in terms}
    total, pattern = float(view.total[query, key]), float(view.pattern[query, key])
    frame = pd.DataFrame({"part": [*values, "total", "pattern"], "value": [*values.values(), total, pattern]})
    frame = frame.assign(query=query, key=key, query_token=view.labels[query], key_token=view.labels[key])
    asks, answers = f"{query} “{view.labels[query]}”", f"{key} “{view.labels[key]}”"
    kind = "key-centred score" if params["centred"] else "score before centring"
    largest = max(values, key=lambda term: abs(values[term]))
    told = f"The largest term is {spoken(largest)}, {signed(values[largest], 4)}; the total is {signed(total, 4)}."
    return Figure(
        name="probe_cell",
        title=f"Head {head}, query {asks} on key {answers}",
        frame=lambda: frame,
        caption=(
            f"What each term adds to the {kind} of this one query on this one key; {made.provenance.model}, layer "
            f"{made.layer}. {told} Attention after softmax: {pattern:.4f}. {assumed(made)}"
        ),
        alt=f"Bars, one a term. {told}",
        command=probes.command(made),
        provenance=facts(made.provenance),
        citation_keys=CITE,
        content={
            "frame": frame[frame.part != "pattern"].assign(label=frame.part.map(spoken)),
            "kind": kind,
        },
    )
