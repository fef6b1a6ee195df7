"""Every key as far from every query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import LAYER_TURNS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class FreezeDistance(Intervention):
    """Rotary scores are what they would be if every key stood so many tokens before its query."""

    distance: int = 1

    name = "freeze_distance"
    title = "Freeze the distance"
    summary = "Every key is scored as if it stood the same number of tokens before the query. A causal mask stays."
    places = (LAYER_TURNS,)

    def __post_init__(self) -> None:
        if self.distance < 0:
            raise InterventionError(f"No key stands {self.distance} tokens before its query; expected 0 or more.")

    @property
    def description(self) -> str:
        """The distance of every key from its query, in words."""
        return f"every key {self.distance} tokens before its query"

    @property
    def apart(self) -> int:
        """The distance."""
        return self.distance

    def turns_in(
        self, layer: int, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The rotation of the first position, for all tokens; `forward` then sets the queries apart."""
        return cos[..., :1, :].expand_as(cos), sin[..., :1, :].expand_as(sin)
