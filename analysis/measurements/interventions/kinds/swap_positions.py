"""Another encoding in the place of the model's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.core.errors import InterventionError
from analysis.encodings import encode
from analysis.measurements.interventions.kinds.intervention import ROWS, Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

ENCODINGS = {"sinusoidal": "sinusoidal", "random_fixed": "random"}
"""Encodings that can replace a learned table, with the same rows in every text: name -> adjective."""


@intervention
@dataclass(frozen=True)
class SwapPositions(Intervention):
    """The rows become those of another encoding, as large on average as the model's own."""

    encoding: str = "sinusoidal"

    name = "swap_positions"
    title = "Swap the encoding"
    summary = "The position rows are replaced by sinusoidal or random ones of the same root mean square."
    places = (ROWS,)
    instead = "It adds no position rows that others could replace; zero or shuffle the positions"

    def __post_init__(self) -> None:
        if self.encoding not in ENCODINGS:
            raise InterventionError(
                f"{self.encoding!r} cannot replace the positions; expected one of: {', '.join(ENCODINGS)}."
            )

    @property
    def description(self) -> str:
        """The encoding that replaces the positions, in words."""
        return f"positions replaced by {ENCODINGS[self.encoding]} ones"

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """The encoding's first rows, scaled to the root mean square of what was there."""
        length, width = rows.shape[-2:]
        # Sinusoids come in pairs: of an odd width the last dimension is left out.
        new = rows.new_tensor(encode(self.encoding, length=length, dim=width + width % 2)[:, :width])
        return (new * (rows.square().mean() / new.square().mean()).sqrt()).expand_as(rows)
