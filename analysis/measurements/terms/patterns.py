"""Attention probabilities of every layer on a text, of a model whose architecture has no terms."""

import time

import numpy as np
from numpy import ndarray
from transformers import PreTrainedModel

from analysis.measurements.terms.result import Patterns
from analysis.measurements.terms.run import encode, provenance
from analysis.models.patterns import patterns
from analysis.models.tokenizer import Tokenizer
from analysis.models.trace_sources import Layer


def text_patterns(
    model: PreTrainedModel,
    tokenizer: Tokenizer,
    text: str,
    text_pair: str | None = None,
    *,
    truncate: bool = False,
    name: str | None = None,
    revision: str | None = None,
) -> Patterns:
    """Every layer's pattern. Raises ModelError where the model's attention cannot be seen, and as `decompose`."""
    inputs, tokens, cut_from = encode(tokenizer, text, text_pair or None, model, truncate)
    started = time.perf_counter()
    items: list[ndarray] = []

    def each(layer: Layer) -> None:
        items.append(layer.pattern[0].float().cpu().numpy())

    patterns(model, inputs, each)
    about = provenance(model, name, revision, text, started, text_pair, cut_from)
    return Patterns(np.stack(items), tokens, about)
