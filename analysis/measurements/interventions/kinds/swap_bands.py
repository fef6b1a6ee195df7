"""Two bands of wavelengths in each other's place."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, tau
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.core.wavelengths import BANDS, EDGES
from analysis.measurements.interventions.kinds.intervention import TURNS, Intervention, intervention
from analysis.models.rotary_tables import columns_of, frequencies

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class SwapBands(Intervention):
    """The pairs of one band turn as those of another, and they as these: the fastest as the fastest, and so on.

    bands: their numbers, the fastest 0, joined by +. Of the larger band the slowest pairs stay as they are.
    """

    bands: str = "1+2"

    name = "swap_bands"
    title = "Swap two bands"
    summary = "Two bands of dimensions swap their wavelengths."
    places = (TURNS,)

    def __post_init__(self) -> None:
        numbers = self.bands.split("+")
        if len(numbers) != 2 or not all(number.isdecimal() and int(number) < len(BANDS) for number in numbers):
            raise InterventionError(
                f"The bands {self.bands!r} cannot be swapped; expected two numbers from 0 to {len(BANDS) - 1}, such as "
                "1+2."
            )

    @property
    def description(self) -> str:
        """The two bands of wavelengths that are swapped, in words."""
        first, second = (BANDS[int(number)] for number in self.bands.split("+"))
        return f"wavelengths {first} and {second} tokens swapped"

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """The same columns in another order."""
        frequency = frequencies(cos, sin).abs().tolist()
        inside = [[], []]
        for columns in columns_of(cos, sin):
            wave = tau / frequency[columns[0]] if frequency[columns[0]] > 0 else inf
            band = sum(wave >= edge for edge in EDGES)
            for index, number in enumerate(self.bands.split("+")):
                if band == int(number) and wave < inf:
                    inside[index].append(columns)
        for band in inside:
            band.sort(key=lambda columns: -frequency[columns[0]])
        order = list(range(cos.shape[-1]))
        for first, second in zip(*inside, strict=False):
            for a, b in zip(first, second, strict=True):
                order[a], order[b] = b, a
        return cos[..., order], sin[..., order]
