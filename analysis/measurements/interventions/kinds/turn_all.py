"""Every query and key turned further by one angle."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos as cosine, isfinite, sin as sine
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import TURNS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class TurnAll(Intervention):
    """All pairs of all queries and keys are turned by the same angle more, in radians."""

    by: float = 1.0

    name = "turn_all"
    title = "Rotate all by a constant"
    summary = "Every query and key is rotated by the same additional angle, which leaves all scores as they are."
    places = (TURNS,)

    def __post_init__(self) -> None:
        if not isfinite(self.by):
            raise InterventionError(f"Nothing can be rotated by {self.by} radians; expected a number such as 1.")

    @property
    def description(self) -> str:
        """The angle that all queries and keys are rotated by, in words."""
        return f"all queries and keys turned by {self.by:g} radians"

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The sum of two angles."""
        c, s = cosine(self.by), sine(self.by)
        return cos * c - sin * s, sin * c + cos * s
