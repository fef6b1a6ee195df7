"""Attention probabilities of every layer on a text, of a model whose architecture has no terms."""

import time

import numpy as np
from numpy import ndarray

from analysis.measurements.terms.result import Patterns
from analysis.measurements.terms.run import AskedText, encode, provenance
from analysis.models.load import Loaded
from analysis.models.patterns import patterns
from analysis.models.trace_sources import Layer


def text_patterns(loaded: Loaded, asked: AskedText) -> Patterns:
    """Every layer's pattern. Raises ModelError where the model's attention cannot be seen, and as `decompose`."""
    inputs, tokens, cut_from = encode(loaded.tokenizer, asked.text, asked.pair or None, loaded.model, asked.truncate)
    started = time.perf_counter()
    items: list[ndarray] = []

    def each(layer: Layer) -> None:
        items.append(layer.pattern[0].float().cpu().numpy())

    patterns(loaded.model, inputs, each)
    about = provenance(loaded, asked.text, started, asked.pair, cut_from)
    return Patterns(np.stack(items), tokens, about)
