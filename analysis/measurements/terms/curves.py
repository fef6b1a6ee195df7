"""The mean score of every head at each distance, on one text: that of position alone, and the model's own."""

import time

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy import ndarray
from torch import Tensor

from analysis.core.term_names import SCORE_BIAS
from analysis.measurements.terms import measures
from analysis.measurements.terms.result import Curves
from analysis.measurements.terms.run import FollowedText, checked_family, encode, error_of, provenance, sum_of_terms
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer, trace_sources

REACH = 32
"""The farthest distance, in tokens, at which scores are averaged."""
OF_POSITION = ("position_to_position", SCORE_BIAS)
"""The terms that depend on where query and key stand and on nothing else."""


def curves(loaded: Loaded, asked: FollowedText) -> Curves:
    """One forward pass with every source followed; of each map only its diagonals' means are kept.

    Raises what `decompose` does.
    """
    model = loaded.model
    family = checked_family(model, loaded.source.name)
    inputs, tokens, cut_from = encode(loaded.tokenizer, asked.text, asked.pair or None, model, asked.truncate)
    started = time.perf_counter()
    reach = min(REACH, len(tokens) - 1)
    distances = np.arange(-reach, reach + 1)
    of_position: list[ndarray] = []
    totals: list[ndarray] = []
    shares: list[ndarray] = []
    errors: list[tuple[float, float]] = []
    terms: set[str] = set()
    pairs = np.zeros(len(distances), dtype=int)

    def each(layer: Layer) -> None:
        nonlocal pairs
        factors, mask = layer.factors(), layer.attended()
        own = layer.call.scores[0]
        errors.append(error_of(sum_of_terms(factors), own))
        alone = torch.zeros_like(own)
        sources = len(factors.query)
        for term in OF_POSITION:
            if term not in factors.terms:
                continue
            index = factors.terms.index(term)
            if index < sources**2:
                query, key = divmod(index, sources)
                part = measures.score_map(factors.query[query], factors.key[key], factors.scale)
            else:
                assert factors.bias is not None
                part = factors.bias[index - sources**2]
            if part.any():
                terms.add(term)
                alone += part
        centred, whole = measures.key_centred(alone, mask), measures.key_centred(own, mask)
        power = whole.square().sum((-1, -2))
        shares.append(torch.where(power > 0, (centred * whole).sum((-1, -2)) / power, torch.nan).cpu().numpy())
        of_position.append(_diagonal_means(centred, mask, reach))
        totals.append(_diagonal_means(whole, mask, reach))
        pairs = np.maximum(pairs, _pairs(len(tokens), mask, reach))

    with torch.inference_mode():
        trace_sources(model, family, inputs, each, freeze=asked.freeze)
    return Curves(
        terms=tuple(term for term in OF_POSITION if term in terms),
        distances=distances,
        pairs=pairs,
        position=np.stack(of_position),
        total=np.stack(totals),
        shares=np.stack(shares),
        errors=np.asarray(errors),
        tokens=len(tokens),
        freeze=asked.freeze if family.gated(model.config) else "",
        provenance=provenance(loaded, asked.text, started, asked.pair, cut_from),
    )


def _pairs(tokens: int, mask: Bool[Tensor, "Q K"] | None, reach: int) -> ndarray:
    """The number of pairs of a query and a key that it attends to, at each distance."""
    seen = torch.ones(tokens, tokens, dtype=torch.bool) if mask is None else mask
    return np.array([int(seen.diagonal(distance).sum()) for distance in range(-reach, reach + 1)])


def _diagonal_means(
    scores: Float[Tensor, "H Q K"], mask: Bool[Tensor, "Q K"] | None, reach: int
) -> Float[ndarray, "H distance"]:
    """Each head's mean over the pairs at each distance; not a number where no query attends so far."""
    means = []
    for distance in range(-reach, reach + 1):
        diagonal = scores.diagonal(distance, dim1=-2, dim2=-1)
        if mask is None:
            means.append(diagonal.mean(-1))
            continue
        seen = mask.diagonal(distance)
        means.append((diagonal * seen).sum(-1) / seen.sum())  # 0 of 0 is not a number
    return torch.stack(means, -1).cpu().numpy()
