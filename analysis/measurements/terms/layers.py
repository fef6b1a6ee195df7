"""Every layer of a model on one text: each term's share or effect, and the sources of the hidden states.

Of a model whose architecture has no terms, the attention patterns alone.
"""

import time
from typing import Protocol

import numpy as np
import torch
from numpy import ndarray
from torch import Tensor

from analysis.core.term_names import SOURCES
from analysis.measurements.terms import measures
from analysis.measurements.terms.result import Layers, Patterns
from analysis.measurements.terms.run import (
    AskedText,
    FollowedText,
    checked_family,
    encode,
    error_of,
    provenance,
    sum_of_terms,
)
from analysis.models.load import Loaded
from analysis.models.patterns import patterns
from analysis.models.trace_sources import Layer, trace_sources
from analysis.streams.tensor import stacked, total


class EveryLayerOfText(FollowedText, Protocol):
    """A request for the terms of every layer on a text."""

    @property
    def measure(self) -> str:
        """The measure of each term: share or effect."""
        ...


def layers(loaded: Loaded, asked: EveryLayerOfText) -> Layers:
    """One forward pass with every source followed; no map is kept. Raises what `decompose` does."""
    model = loaded.model
    family = checked_family(model, loaded.source.name)
    inputs, tokens, cut_from = encode(loaded.tokenizer, asked.text, asked.pair or None, model, asked.truncate)
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
        total = measures.total_map(factors.query, factors.key, factors.scale, factors.bias)
        errors.append(error_of(sum_of_terms(factors), layer.call.scores[0]))
        parts, power = measures.share_parts(*arguments, total)
        squares = measures.centred_squares(*arguments)
        cancelled.append(measures.cancellation(squares, power).cpu().numpy())
        result = (
            measures.withhold_meaningless(parts, power, squares)
            if asked.measure == "share"
            else measures.effects(*arguments)[0]
        )
        values.append(result.cpu().numpy())

    def states(_: int, hidden: Tensor) -> None:
        parts, hidden_total = stacked(hidden, len(SOURCES)).flatten(1), total(hidden).flatten()
        carried.append((parts @ hidden_total / (hidden_total @ hidden_total)).cpu().numpy())
        off.append(float((parts.sum(0) - hidden_total).abs().max() / (hidden_total.max() - hidden_total.min())))

    with torch.inference_mode():
        trace_sources(model, family, inputs, each, states=states, freeze=asked.freeze)
    return Layers(
        measure=asked.measure,
        terms=names[0],
        values=np.stack(values),
        carried=np.stack(carried),
        errors=np.asarray(errors),
        cancellation=np.stack(cancelled),
        state_error=max(off),
        tokens=len(tokens),
        freeze=asked.freeze if family.gated(model.config) else "",
        provenance=provenance(loaded, asked.text, started, asked.pair, cut_from),
    )


def text_patterns(loaded: Loaded, asked: AskedText) -> Patterns:
    """Every layer's attention pattern. Raises what `decompose` does, and ModelError where attention cannot be seen."""
    inputs, tokens, cut_from = encode(loaded.tokenizer, asked.text, asked.pair or None, loaded.model, asked.truncate)
    started = time.perf_counter()
    items: list[ndarray] = []

    def each(layer: Layer) -> None:
        items.append(layer.pattern[0].float().cpu().numpy())

    patterns(loaded.model, inputs, each)
    about = provenance(loaded, asked.text, started, asked.pair, cut_from)
    return Patterns(np.stack(items), tokens, about)
