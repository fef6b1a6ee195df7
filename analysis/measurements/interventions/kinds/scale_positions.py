"""Positions made weaker or stronger."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import BIAS, ROWS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class ScalePositions(Intervention):
    """Multiplies the part that positions add by a number."""

    by: float = 0.5

    name = "scale_positions"
    title = "Scale positions"
    summary = "What positions add, to words or to scores, is multiplied by a number."
    places = (ROWS, BIAS)
    instead = "A rotation has no size; zero or shuffle the positions"

    def __post_init__(self) -> None:
        if not isfinite(self.by):
            raise InterventionError(f"Positions cannot be multiplied by {self.by}; expected a number such as 0.5.")

    @property
    def description(self) -> str:
        """The factor of the positions, in words."""
        return f"positions times {self.by:g}"

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """Rows times the number."""
        return rows * self.by

    def bias(self, bias: Float[Tensor, "B H T T"]) -> Float[Tensor, "B H T T"]:
        """The bias times the number."""
        return bias * self.by
