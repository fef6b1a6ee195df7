"""All positions moved on."""

from dataclasses import dataclass

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.kinds.intervention import BIAS, ROWS, TURNS, Intervention, intervention


@intervention
@dataclass(frozen=True)
class ShiftPositions(Intervention):
    """Token i gets position i + k of the model's own table, whatever stands before it among the interventions."""

    by: int = 8

    name = "shift_positions"
    title = "Shift positions"
    summary = "Token i gets the model's own position i + k. What depends on distances alone does not change."
    places = (ROWS, TURNS, BIAS)

    def __post_init__(self) -> None:
        if self.by < 0:
            raise InterventionError(f"Positions can be shifted by 0 or more, not by {self.by}: none come before 0.")

    @property
    def description(self) -> str:
        """The number of positions that all tokens are shifted by, in words."""
        return f"positions shifted by {self.by}"

    @property
    def offset(self) -> int:
        """k."""
        return self.by
