"""Runs a model on two texts, each by itself, and splits the cosine of their vectors.

A cosine of two sums of vectors is a sum of their products, divided by the two lengths.
"""

import time
from collections.abc import Mapping
from typing import Protocol

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor
from transformers import PreTrainedModel

from analysis.core.errors import AddendError, TextError, UnknownName
from analysis.core.term_names import SOURCES
from analysis.measurements.interventions.forward import check, forward
from analysis.measurements.interventions.kinds import INTERVENTIONS
from analysis.measurements.similarity.result import GROUPS, POOLINGS, Similarity, group_of
from analysis.measurements.terms.run import FollowedText, checked_family, encode, provenance
from analysis.models.families import Family
from analysis.models.load import Loaded
from analysis.models.submodules import last_states
from analysis.models.trace_sources import trace_sources
from analysis.streams.tensor import stacked, total

Inputs = Mapping[str, Tensor]
Parts = Float[ndarray, "source token width"]


class TwoTexts(FollowedText, Protocol):
    """A request for the similarity of a text and its pair, each read by itself."""

    @property
    def pooling(self) -> str:
        """The way in which one vector is made of a text, of `POOLINGS`."""
        ...


def similarity(loaded: Loaded, asked: TwoTexts) -> Similarity:
    """The similarity of two texts. Raises UnknownName for another pooling, TextError and ModelError as `decompose`."""
    second, pooling = asked.pair or "", asked.pooling
    if pooling not in POOLINGS:
        raise UnknownName(f"There is no pooling {pooling!r}; known: {', '.join(POOLINGS)}.")
    if not second.strip():
        raise TextError("Similarity compares two texts, and the second is missing; type one.")
    base, name = loaded.model.base_model, loaded.source.name
    assert isinstance(base, PreTrainedModel)
    family = checked_family(base, name)
    started = time.perf_counter()
    (left, left_tokens, left_cut), (right, right_tokens, right_cut) = (
        encode(loaded.tokenizer, text, None, base, asked.truncate) for text in (asked.text, second)
    )
    parts, texts = [_parts(base, family, inputs, asked.freeze) for inputs in (left, right)], (left, right)
    own = [_states(base, family, inputs) for inputs in texts]
    by_source, by_pair = split_cosine(parts[0], parts[1], pooling)
    without_positions, why_not = _without_positions(base, family, texts, pooling, name)
    return Similarity(
        first=left_tokens,
        second=right_tokens,
        by_source=by_source,
        by_pair=by_pair,
        cosine=cosine(own[0], own[1], pooling),
        without_parts=cosine(without(parts[0], "position"), without(parts[1], "position"), pooling),
        without_positions=without_positions,
        why_not=why_not,
        pooling=pooling,
        position_kind=family.position_kind(base.config),
        freeze=asked.freeze if family.gated(base.config) else "",
        provenance=provenance(loaded, asked.text, started, second, left_cut or right_cut),
    )


def _parts(model: PreTrainedModel, family: Family, inputs: Inputs, freeze: str) -> Float[ndarray, "source token width"]:
    """The part of each source in the final states of a text."""
    with torch.inference_mode():
        output = trace_sources(model, family, inputs, freeze=freeze)
        return stacked(last_states(model, output), len(SOURCES))[:, 0].double().cpu().numpy()


def _states(model: PreTrainedModel, family: Family, inputs: Inputs) -> Float[ndarray, "token width"]:
    """The final states of a text as the model computes them, with nothing followed."""
    with torch.inference_mode():
        output = trace_sources(model, family, inputs, sources=False)
        return total(last_states(model, output))[0].double().cpu().numpy()


def _without_positions(
    model: PreTrainedModel, family: Family, texts: tuple[Inputs, Inputs], pooling: str, name: str | None
) -> tuple[float, str]:
    """The cosine when the model runs on both texts without positions; the reason, where it cannot."""
    zero = INTERVENTIONS["zero_positions"]()
    biased: list[bool] = []
    try:
        trace_sources(model, family, texts[0], lambda layer: biased.append(layer.call.bias is not None), sources=False)
        check(model, family, [zero], biased=any(biased), name=name or "The model")
        with torch.inference_mode():
            states = [forward(model, family, inputs, [zero]).hidden[0].double().cpu().numpy() for inputs in texts]
    except AddendError as problem:
        return float("nan"), str(problem)
    result = cosine(np.asarray(states[0]), np.asarray(states[1]), pooling)
    return result, ""


def weights(pooling: str, tokens: int) -> Float[ndarray, " token"]:
    """The weight of each token's state in the vector of a text."""
    assert pooling in POOLINGS, pooling
    if pooling == "mean":
        return np.full(tokens, 1 / tokens)
    chosen = np.zeros(tokens)
    chosen[0 if pooling == "first" else -1] = 1
    return chosen


def split_cosine(
    first: Parts, second: Parts, pooling: str
) -> tuple[Float[ndarray, "source source"], Float[ndarray, "group first second"]]:
    """The cosine of two texts as a sum over pairs of sources, and over groups and pairs of tokens.

    first, second: what each source contributes to the final state over each token.
    """
    left, right = (parts.astype(np.float64) * weights(pooling, parts.shape[1])[:, None] for parts in (first, second))
    lengths = float(np.linalg.norm(left.sum((0, 1))) * np.linalg.norm(right.sum((0, 1)))) or 1.0
    by_source = np.einsum("stw,ruw->sr", left, right, optimize=True) / lengths
    by_pair = np.zeros((len(GROUPS), left.shape[1], right.shape[1]))
    for i, one in enumerate(SOURCES):
        for j, other in enumerate(SOURCES):
            by_pair[GROUPS.index(group_of(one, other))] += left[i] @ right[j].T / lengths
    return by_source, by_pair


def cosine(first: Float[ndarray, "token width"], second: Float[ndarray, "token width"], pooling: str) -> float:
    """The cosine of the vectors of two texts by their final states; not a number where one of them is 0."""
    left, right = (weights(pooling, len(states)) @ states.astype(np.float64) for states in (first, second))
    lengths = np.linalg.norm(left) * np.linalg.norm(right)
    return float(left @ right / lengths) if lengths else float("nan")


def without(parts: Parts, source: str) -> Float[ndarray, "token width"]:
    """The states less what one source contributed to them."""
    return np.asarray(np.delete(parts, SOURCES.index(source), axis=0).astype(np.float64).sum(0))
