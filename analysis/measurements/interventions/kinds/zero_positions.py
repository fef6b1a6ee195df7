"""Positions off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.measurements.interventions.kinds.intervention import BIAS, ROWS, TURNS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class ZeroPositions(Intervention):
    """Rows become 0, everything is turned as at the first position, and nothing is added to the scores."""

    name = "zero_positions"
    title = "Zero positions"
    summary = (
        "What positions add, to words or to scores, is 0, and nothing is rotated. A causal mask, where there is one, "
        "still shows the order."
    )
    places = (ROWS, TURNS, BIAS)

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """Zeros."""
        return rows.new_zeros(rows.shape)

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The rotation of the first position, for all tokens: a rotation that all share has no effect on any score."""
        return cos[..., :1, :].expand_as(cos), sin[..., :1, :].expand_as(sin)

    def bias(self, bias: Float[Tensor, "B H T T"]) -> Float[Tensor, "B H T T"]:
        """Zeros."""
        return bias.new_zeros(bias.shape)
