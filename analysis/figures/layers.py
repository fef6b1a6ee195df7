"""Figures of every layer of a model on one text: a term by layer and head, and all terms against depth."""

import numpy as np
import pandas as pd

from analysis import probes
from analysis.figures.base import Figure, Params, figure
from analysis.figures.one_run import cancelled, facts
from analysis.figures.terms import CITE, HELD, MEASURES, ORDER, one_of, reading, spoken
from analysis.figures.words import begun
from analysis.sources import ADDED_TERMS, FOUR, SOURCES, TERMS
from analysis.terms.result import Layers


def _assumed(run: Layers) -> str:
    gates = f" (of gated units the {HELD[run.freeze]})" if run.freeze else ""
    return (
        f"Method frozen, exact at layer 0: patterns, norms' statistics and gates{gates} held at their true values. "
        f"The terms add up to the model's own scores to {run.errors[:, 0].max():.1e} "
        f"({run.errors[:, 1].max():.1e} of their range) at worst over layers, the sources to its hidden states to "
        f"{run.state_error:.1e} of theirs ({run.provenance.dtype}, {run.provenance.device}). "
        f"{cancelled(run.cancellation)}"
    )


def present(run: Layers) -> list[str]:
    """The terms that are not zero everywhere, the four first."""
    there = [term for number, term in enumerate(run.terms) if np.nan_to_num(run.values[:, number]).any()]
    return [term for term in (*ORDER, *ADDED_TERMS) if term in there]


@figure("probe_layers", live=probes.obtain_layers)
def probe_layers(params: Params, run: Layers) -> Figure:
    """One term's share or effect, layer by head."""
    term = one_of(params, "term", (*TERMS, *ADDED_TERMS))
    if term not in run.terms:
        values = np.zeros((len(run.values), run.values.shape[2]))
    else:
        values = run.values[:, run.terms.index(term)]
    layer, head = np.indices(values.shape)
    frame = pd.DataFrame({"layer": layer.ravel(), "head": head.ravel(), "value": values.ravel()})
    told = "undefined everywhere"
    if np.isfinite(values).any():
        top = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
        told = f"the largest is {values[top]:.2f} at layer {top[0]}, head {top[1]}"
    return Figure(
        name="probe_layers",
        title=f"{spoken(term)} at every layer and head",
        frame=lambda: frame,
        caption=(
            f"{begun(MEASURES[run.measure])} of {spoken(term)}, {run.provenance.model}, one text of {run.tokens} "
            f"tokens. {reading(run.measure)} {_assumed(run)}"
        ),
        alt=f"Heat map, {values.shape[0]} layers by {values.shape[1]} heads; {told}.",
        command=probes.layers_command(run.provenance, run.freeze, run.measure),
        provenance=facts(run.provenance),
        citation_keys=CITE,
        content={"values": values, "measure": run.measure, "label": MEASURES[run.measure]},
    )


@figure("probe_depth", live=probes.obtain_layers)
def probe_depth(params: Params, run: Layers) -> Figure:
    """The mean over heads of every term against depth, and what carries each source on."""
    terms = present(run)
    named = [term for term in (*FOUR, *ADDED_TERMS) if term in terms]
    mean = np.nanmean(run.values, axis=-1)
    rows = [
        (layer, spoken(term), float(mean[layer, run.terms.index(term)])) for term in named for layer in range(len(mean))
    ]
    others = [run.terms.index(term) for term in terms if term not in named]
    if others and run.measure == "share":
        rows += [(layer, "all others", float(mean[layer, others].sum())) for layer in range(len(mean))]
    frame = pd.DataFrame(rows, columns=["layer", "series", "value"]).assign(panel="scores")
    carried = pd.DataFrame(
        [
            (layer, source, float(run.carried[layer, number]), "states")
            for number, source in enumerate(SOURCES)
            if run.carried[:, number].any()
            for layer in range(len(run.carried))
        ],
        columns=["layer", "series", "value", "panel"],
    )
    which = "each term" if run.measure == "share" else "the terms of word and position (and of a score bias)"
    last = carried[carried.layer == carried.layer.max()].set_index("series").value
    told = ", ".join(f"{source} {value:.2f}" for source, value in last.items())
    return Figure(
        name="probe_depth",
        title="Against depth",
        frame=lambda: pd.concat([frame, carried], ignore_index=True),
        caption=(
            f"Of the scores: {MEASURES[run.measure]}, mean over heads, of {which} at each layer. Of the states: each "
            "source's part of what leaves a layer, ⟨source, whole⟩ / ⟨whole, whole⟩ over tokens, which sums to 1; "
            f"after the last layer: {told}. {run.provenance.model}, one text of {run.tokens} tokens. {_assumed(run)}"
        ),
        alt=f"Lines over {len(mean)} layers. Parts of the last hidden states: {told}.",
        command=probes.layers_command(run.provenance, run.freeze, run.measure),
        provenance=facts(run.provenance),
        citation_keys=CITE,
        content={
            "scores": frame,
            "states": carried,
            "label": MEASURES[run.measure],
            "order": [*(spoken(term) for term in named), "all others"],
        },
    )
