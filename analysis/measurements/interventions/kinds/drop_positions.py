"""No positions in one layer, or in all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import LAYER_TURNS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

EVERY = -1


@intervention
@dataclass(frozen=True)
class DropPositions(Intervention):
    """A layer turns all its queries and keys as at the first position; EVERY: all layers do."""

    layer: int = EVERY

    name = "drop_positions"
    title = "Drop positions in a layer"
    summary = (
        "In one layer, or in every layer (-1), no query and no key is rotated. A causal mask, where there is one, "
        "still shows the order."
    )
    places = (LAYER_TURNS,)

    def __post_init__(self) -> None:
        if self.layer < EVERY:
            raise InterventionError(f"There is no layer {self.layer}; expected its number, or {EVERY} for all.")

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers that it acts on; empty for all."""
        return () if self.layer == EVERY else (self.layer,)

    @property
    def description(self) -> str:
        """The layers without rotation, in words."""
        return "nothing turned" + ("" if self.layer == EVERY else f" in layer {self.layer}")

    def turns_in(
        self, layer: int, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The rotation of the first position, for all tokens of the layers that it acts on."""
        if self.layer not in (EVERY, layer):
            return cos, sin
        return cos[..., :1, :].expand_as(cos), sin[..., :1, :].expand_as(sin)
