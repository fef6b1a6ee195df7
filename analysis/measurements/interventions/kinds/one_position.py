"""All tokens at one position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.measurements.interventions.kinds.intervention import BIAS, ROWS, TURNS, Intervention, intervention, within

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor


@intervention
@dataclass(frozen=True)
class OnePosition(Intervention):
    """Positions are there, as large as ever, and say nothing."""

    position: int = 0

    name = "one_position"
    title = "One position for all"
    summary = "Every token gets the same position: positions still add something, but no longer distinguish tokens."
    places = (ROWS, TURNS, BIAS)

    @property
    def description(self) -> str:
        """The position that all tokens get, in words."""
        return f"all tokens at position {self.position}"

    def _row(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        at = within(self.position, rows.shape[-2])
        return rows[..., at : at + 1, :].expand_as(rows)

    def rows(self, rows: Float[Tensor, "... T W"]) -> Float[Tensor, "... T W"]:
        """One row for all."""
        return self._row(rows)

    def turns(
        self, cos: Float[Tensor, "... T D"], sin: Float[Tensor, "... T D"]
    ) -> tuple[Float[Tensor, "... T D"], Float[Tensor, "... T D"]]:
        """One turn for all."""
        return self._row(cos), self._row(sin)

    def pairs(self, pairs: Float[Tensor, "... T T"]) -> Float[Tensor, "... T T"]:
        """The value of that position with itself, for every pair."""
        at = within(self.position, pairs.shape[-1])
        return pairs[..., at : at + 1, at : at + 1].expand_as(pairs)
