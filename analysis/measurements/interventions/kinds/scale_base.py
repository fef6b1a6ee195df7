"""Another base for the wavelengths of rotary positions."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import TURNS, Intervention, intervention
from analysis.models.rotary_tables import columns_of, frequencies, turning

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class ScaleBase(Intervention):
    """Pair i of n turns as if the base were a number of times as large: its frequency times number^(-i / n).

    i counts from the fastest pair, which keeps its frequency. n counts the pairs of the table, those too that stand
    still in it: Gemma 4's proportional rotations spread their exponents over the whole head and turn a part of it.
    """

    by: float = 4.0

    name = "scale_base"
    title = "Scale the base"
    summary = (
        "The base of the wavelengths is multiplied by a number, so that slow pairs of dimensions rotate at another "
        "speed."
    )
    places = (TURNS,)

    def __post_init__(self) -> None:
        if not 0 < self.by < inf:
            raise InterventionError(
                f"The base cannot be multiplied by {self.by}; expected a number above 0, such as 4."
            )

    @property
    def description(self) -> str:
        """The factor of the base, in words."""
        return f"base times {self.by:g}"

    @property
    def base(self) -> float:
        """The number."""
        return self.by

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """Angles at the other frequencies."""
        frequency = frequencies(cos, sin)
        pairs = columns_of(cos, sin)
        moving = [columns for columns in pairs if float(frequency[columns[0]]) != 0]
        moving.sort(key=lambda columns: -abs(float(frequency[columns[0]])))
        for number, columns in enumerate(moving):
            frequency[columns] *= self.by ** (-number / len(pairs))
        return turning(frequency, cos, sin)
