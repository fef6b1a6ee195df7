"""Figures of every layer of a model on one text: a term by layer and head, and all terms against depth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
import pandas as pd
from numpy import ndarray

from analysis.ablation.variants import readable
from analysis.core import frames
from analysis.core.formatting import capitalised
from analysis.core.term_names import ADDED_TERMS, FOUR, SOURCES, TERMS
from analysis.figures.figure import Figure, LiveRun, Parameters, figure, one_of
from analysis.figures.one_run import cancellation_note, run_facts
from analysis.figures.terms.data import (
    CITATION_KEYS,
    FREEZE_LABELS,
    MEASURES,
    ORDER,
    leading_by_layer,
    measure_note,
    term_label,
)
from analysis.measurements.terms.result import Layers
from analysis.probes import text_probe


class LayersParameters(Parameters):
    """The term that is shown."""

    term: Annotated[str, one_of((*TERMS, *ADDED_TERMS))]


@dataclass(frozen=True)
class LayerHeadsContent:
    """values: (layer, head) of a measure, which `label` says in words."""

    values: ndarray
    measure: str
    label: str


@dataclass(frozen=True)
class DepthContent:
    """scores, states: layer, series, value of the terms of the scores and of the sources of the hidden states.

    label: names the values of the scores. order: of their series.
    """

    scores: pd.DataFrame
    states: pd.DataFrame
    label: str
    order: list[str]


LAYERS = LiveRun(
    obtain=text_probe.obtain_layers,
    provenance=run_facts,
    command=text_probe.layers_command,
    citation_keys=CITATION_KEYS,
)


def _assumption_note(run: Layers) -> str:
    gates = f" (of gated units the {FREEZE_LABELS[run.freeze]})" if run.freeze else ""
    return (
        f"Method frozen, exact at layer 0: patterns, norms' statistics and gates{gates} held at the values they have "
        "in the model. "
        f"The terms add up to the model's own scores to {run.errors[:, 0].max():.1e} "
        f"({run.errors[:, 1].max():.1e} of their range) at worst over layers, the sources to its hidden states to "
        f"{run.state_error:.1e} of theirs ({run.provenance.dtype}, {run.provenance.device}). "
        f"{cancellation_note(run.cancellation)}"
    )


def present(run: Layers) -> list[str]:
    """The terms that are not zero everywhere, the four first."""
    nonzero = [term for index, term in enumerate(run.terms) if np.nan_to_num(run.values[:, index]).any()]
    return [term for term in (*ORDER, *ADDED_TERMS) if term in nonzero]


@figure("probe_layers", LayersParameters, live=LAYERS)
def probe_layers(params: LayersParameters, run: Layers) -> Figure[LayerHeadsContent]:
    """One term's share or effect, layer by head."""
    term = params.term
    if term not in run.terms:
        values = np.zeros((len(run.values), run.values.shape[2]))
    else:
        values = run.values[:, run.terms.index(term)]
    frame = frames.cells(values, "value", layer=None, head=None)
    text = "undefined everywhere"
    if np.isfinite(values).any():
        top = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
        text = f"the largest is {values[top]:.2f} at layer {top[0]}, head {top[1]}"
    return Figure(
        title=f"{term_label(term)} at every layer and head",
        finding=f"{capitalised(term_label(term))}: {text}",
        frame=lambda: frame,
        caption=(
            f"{capitalised(MEASURES[run.measure])} of {term_label(term)}, {readable(run.provenance.model)}, one "
            f"text of {run.tokens} tokens. {measure_note(run.measure)} {_assumption_note(run)}"
        ),
        alt=f"Heat map, {values.shape[0]} layers by {values.shape[1]} heads; {text}.",
        content=LayerHeadsContent(values=values, measure=run.measure, label=MEASURES[run.measure]),
    )


@figure("probe_depth", Parameters, live=LAYERS)
def probe_depth(params: Parameters, run: Layers) -> Figure[DepthContent]:
    """The mean over heads of every term against depth, and what carries each source on."""
    terms = present(run)
    main = [term for term in (*FOUR, *ADDED_TERMS) if term in terms]
    mean = np.nanmean(run.values, axis=-1)
    rows = [
        (layer, term_label(term), float(mean[layer, run.terms.index(term)]))
        for term in main
        for layer in range(len(mean))
    ]
    others = [run.terms.index(term) for term in terms if term not in main]
    if others and run.measure == "share":
        rows += [(layer, "all others", float(mean[layer, others].sum())) for layer in range(len(mean))]
    frame = pd.DataFrame(rows, columns=["layer", "series", "value"]).assign(panel="scores")
    carried = pd.DataFrame(
        [
            (layer, source, float(run.carried[layer, index]), "states")
            for index, source in enumerate(SOURCES)
            if run.carried[:, index].any()
            for layer in range(len(run.carried))
        ],
        columns=["layer", "series", "value", "panel"],
    )
    subject = "each term" if run.measure == "share" else "the terms of word and position (and of a score bias)"
    last = carried[carried.layer == carried.layer.max()].set_index("series").value
    text = ", ".join(f"{source} {value:.2f}" for source, value in last.items())
    return Figure(
        title="Against depth",
        finding=_over_depth(frame, main),
        frame=lambda: pd.concat([frame, carried], ignore_index=True),
        caption=(
            f"Of the scores: {MEASURES[run.measure]}, mean over heads, of {subject} at each layer. Of the states: each "
            "source's part of what leaves a layer, ⟨source, whole⟩ / ⟨whole, whole⟩ over tokens, which sums to 1; "
            f"after the last layer: {text}. {readable(run.provenance.model)}, one text of {run.tokens} tokens. "
            f"{_assumption_note(run)}"
        ),
        alt=f"Lines over {len(mean)} layers. Parts of the last hidden states: {text}.",
        content=DepthContent(
            scores=frame,
            states=carried,
            label=MEASURES[run.measure],
            order=[*(term_label(term) for term in main), "all others"],
        ),
    )


def _over_depth(frame: pd.DataFrame, terms: Sequence[str]) -> str:
    """A sentence that names, for each layer, the largest of the given terms."""
    labels = [term_label(term) for term in terms]
    lead = frame[frame.series.isin(labels)].pivot(index="layer", columns="series", values="value").dropna(how="all")
    return leading_by_layer(lead) if len(lead) and lead.shape[1] > 1 else ""
