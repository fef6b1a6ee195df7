"""Positions dealt out anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analysis.measurements.interventions.kinds.intervention import BIAS, ROWS, TURNS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class ShufflePositions(Intervention):
    """Every token gets the position of another, by a permutation that the seed gives."""

    seed: int = 0

    name = "shuffle_positions"
    title = "Shuffle positions"
    summary = "The text's positions are shuffled among its tokens, special ones included."
    places = (ROWS, TURNS, BIAS)

    @property
    def description(self) -> str:
        """The seed of the shuffle, in words."""
        return f"positions shuffled (seed {self.seed})"

    def order(self, length: int) -> list[int]:
        """The number, for each token, of the token whose position it gets."""
        return np.random.default_rng(self.seed).permutation(length).tolist()

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """Rows in another order."""
        return rows[..., self.order(rows.shape[-2]), :]

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """Turns in another order."""
        return self.rows(cos), self.rows(sin)

    def pairs(self, pairs: Float[Tensor, "... T T"]) -> Float[Tensor, "... T T"]:
        """Queries and keys in another order."""
        order = self.order(pairs.shape[-1])
        return pairs[..., order, :][..., order]
