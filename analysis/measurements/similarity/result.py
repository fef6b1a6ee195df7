"""The similarity of two texts as a sum. Numpy only, so that it can be drawn where torch is not installed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.core.term_names import SOURCES
from analysis.measurements.terms.result import Provenance, TokenInfo

POOLINGS = ("mean", "first", "last")
"""The ways of making one vector of a text: the mean over all its tokens, or the state of its first or its last one."""
GROUPS: tuple[str, ...] = ("word with word", "word with position", "position with position", "segment and bias")
"""The parts of the cosine: products of the sources' vectors. The second holds both orders, the last all others."""


def group_of(first: str, second: str) -> str:
    """The group that the product of two sources belongs to."""
    sources = {first, second}
    if sources <= {"word", "position"}:
        return GROUPS[1] if len(sources) == 2 else GROUPS[0] if first == "word" else GROUPS[2]
    return GROUPS[3]


@dataclass(frozen=True)
class Similarity:
    """The cosine of two texts' vectors, each text read by itself.

    by_source: (source of the first text, source of the second), in the order of `SOURCES`. by_pair: (group, token of
    the first text, token of the second), groups in the order of `GROUPS`: the part that the final states over the two
    tokens contribute. Both sum to the cosine. cosine: the model's own, from passes in which nothing is followed.
    without_parts: the cosine of the vectors less what position contributed to them. without_positions: the cosine when
    both texts are run without positions; not a number for a model that cannot be run so, and `why_not` says why.
    """

    first: tuple[TokenInfo, ...]
    second: tuple[TokenInfo, ...]
    by_source: Float[ndarray, "source source"]
    by_pair: Float[ndarray, "group first second"]
    cosine: float
    without_parts: float
    without_positions: float
    why_not: str
    pooling: str
    position_kind: str
    freeze: str
    provenance: Provenance

    @property
    def error(self) -> float:
        """The distance of the sum of all parts to the model's own cosine."""
        return abs(float(self.by_source.sum()) - self.cosine)

    def by_group(self) -> dict[str, float]:
        """The sum of each group."""
        sums = dict.fromkeys(GROUPS, 0.0)
        for i, first in enumerate(SOURCES):
            for j, second in enumerate(SOURCES):
                sums[group_of(first, second)] += float(self.by_source[i, j])
        return sums

    def pairs(self) -> Float[ndarray, "first second"]:
        """The part of each pair of tokens."""
        return np.asarray(self.by_pair.sum(0))
