"""Every layer of a model on one text: each term's share or effect, and the sources of the hidden states."""

import time

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.term_names import SOURCES
from analysis.measurements.terms import measures
from analysis.measurements.terms.result import Layers
from analysis.measurements.terms.run import checked_family, encode, error_of, provenance
from analysis.models.tokenizer import Tokenizer
from analysis.models.trace_sources import Layer, trace_sources
from analysis.streams.tensor import stacked, total


def layers(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    text: str,
    text_pair: str | None = None,
    *,
    measure: str = "share",
    freeze: str = "activation",
    truncate: bool = False,
    name: str | None = None,
    revision: str | None = None,
) -> Layers:
    """One forward pass with every source followed; no map is kept. Arguments and errors as `decompose`."""
    family = checked_family(model, name)
    inputs, tokens, cut_from = encode(tokenizer, text, text_pair or None, model, truncate)
    started = time.perf_counter()
    values: list[ndarray] = []
    names: list[tuple[str, ...]] = []
    errors: list[tuple[float, float]] = []
    cancelled: list[ndarray] = []
    carried: list[ndarray] = []
    off: list[float] = []

    def each(layer: Layer) -> None:
        factors, mask = layer.factors(), layer.attended()
        names.append(factors.terms)
        arguments = (factors.query, factors.key, factors.scale, mask, factors.bias)
        scores, total = (
            layer.call.scores[0],
            measures.total_map(factors.query, factors.key, factors.scale, factors.bias),
        )
        errors.append(error_of(total, scores))
        parts, power = measures.share_parts(*arguments, total)
        squares = measures.centred_squares(*arguments)
        cancelled.append(measures.cancellation(squares, power).cpu().numpy())
        result = (
            measures.withhold_meaningless(parts, power, squares)
            if measure == "share"
            else measures.effects(*arguments)[0]
        )
        values.append(result.cpu().numpy())

    def states(_: int, hidden: Tensor) -> None:
        parts, hidden_total = stacked(hidden, len(SOURCES)).flatten(1), total(hidden).flatten()
        carried.append((parts @ hidden_total / (hidden_total @ hidden_total)).cpu().numpy())
        off.append(float((parts.sum(0) - hidden_total).abs().max() / (hidden_total.max() - hidden_total.min())))

    with torch.inference_mode():
        trace_sources(model, family, inputs, each, states=states, freeze=freeze)
    return Layers(
        measure=measure,
        terms=names[0],
        values=np.stack(values),
        carried=np.stack(carried),
        errors=np.asarray(errors),
        cancellation=np.stack(cancelled),
        state_error=max(off),
        tokens=len(tokens),
        freeze=freeze if family.gated(model.config) else "",
        provenance=provenance(model, name, revision, text, started, text_pair, cut_from),
    )
