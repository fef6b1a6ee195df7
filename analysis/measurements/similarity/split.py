"""The mathematics: a cosine of two sums of vectors is a sum of their products, divided by the two lengths."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.core.term_names import SOURCES
from analysis.measurements.similarity.result import GROUPS, POOLINGS, group_of

Parts = Float[ndarray, "source token width"]


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
