"""Segments off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.measurements.interventions.kinds.intervention import SEGMENTS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class ZeroSegment(Intervention):
    """No token knows which of two texts it is of; nor does it get what all tokens of one segment share."""

    name = "zero_segment"
    title = "Zero segment"
    summary = "Segment embeddings are 0."
    places = (SEGMENTS,)

    def segments(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """Zeros."""
        return rows.new_zeros(rows.shape)
