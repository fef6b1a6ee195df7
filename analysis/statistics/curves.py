"""Loss curves: the step at which a curve reaches a target, if it does within its steps."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Curve:
    """Losses (n,), lower is better, at increasing steps (n,). A loss that is NaN or infinite counts as high."""

    steps: Sequence[float] | ndarray
    values: Sequence[float] | ndarray

    def __post_init__(self) -> None:
        steps, values = np.asarray(self.steps, dtype=float), np.asarray(self.values, dtype=float)
        if steps.ndim != 1 or steps.shape != values.shape or not len(steps):
            raise ValueError(f"Steps {steps.shape} and values {values.shape}; expected as many of both, at least one.")
        if not np.isfinite(steps).all() or (np.diff(steps) <= 0).any():
            raise ValueError("The steps of a curve must be finite and increase.")
        object.__setattr__(self, "steps", steps)
        object.__setattr__(self, "values", values)


@dataclass(frozen=True)
class Crossing:
    """The step at which a curve reached its target."""

    step: float
    """NaN: not within the curve's steps."""
    within: float
    """The last step of the curve."""
    at_start: bool
    """Reached at the first step already, or before it."""

    @property
    def reached(self) -> bool:
        """True if the target was reached."""
        return not np.isnan(self.step)

    def __str__(self) -> str:
        if not self.reached:
            return f"> {self.within:,.0f}"
        return f"{'<= ' if self.at_start else ''}{self.step:,.0f}"


def steps_to(curve: Curve, target: float | ArrayLike, *, hold: int = 1) -> Crossing:
    """The first step at or below the target, between evaluations by linear interpolation.

    target: one value, or one at every step of the curve. hold: evaluations in a row, the first included, that
    must be at or below it.
    The first time, and not the time from which it stays: whether a curve stays depends on how long it
    was observed, so that a curve cut short would seem faster. Noise makes the first time early, on both sides of a
    comparison alike as long as both are evaluated at the same steps.
    """
    steps, values = np.asarray(curve.steps), np.asarray(curve.values)
    targets = np.asarray(target, dtype=float)
    if targets.shape not in ((), values.shape):
        raise ValueError(f"Targets of shape {targets.shape}; expected one, or {len(values)} as the curve has steps.")
    if hold < 1:
        raise ValueError(f"hold is {hold}; expected at least one evaluation.")
    above = np.where(np.isfinite(values) | (values == -np.inf), values, np.inf) - targets
    reached = above <= 0
    starts = [i for i in range(len(reached) - hold + 1) if reached[i : i + hold].all()]
    if not starts:
        return Crossing(float("nan"), float(steps[-1]), False)
    i = starts[0]
    # A run of evaluations that holds starts where the one before is above, or the curve starts.
    step = steps[i]
    if i and np.isfinite(above[i - 1]) and np.isfinite(above[i]):
        step = steps[i - 1] + (steps[i] - steps[i - 1]) * above[i - 1] / (above[i - 1] - above[i])
    return Crossing(float(step), float(steps[-1]), i == 0)


PLATEAU_MARGIN = 0.1
"""Nats below the plateau that count as having left it: well above what seeds differ by at one evaluation."""


def steps_to_leave_plateau(curve: Curve, level: float | Curve, margin: float, *, hold: int = 2) -> Crossing:
    """The first step whose loss is below the plateau's level by the margin, and at the next evaluation still.

    level: the loss of the plateau: the entropy of single words, which a model without context can reach, or the
    curve of such a model at the same steps. margin: in the unit of the loss, larger than the noise of an evaluation.
    A stated level, rather than the steepest point of a smoothed curve: the steepest point moves with the smoothing,
    lies at the very start of a curve that falls fast before its plateau, and exists even in one that never leaves it.
    """
    if not margin > 0:
        raise ValueError(f"The margin is {margin}; expected a positive loss.")
    if not isinstance(level, Curve):
        return steps_to(curve, level - margin, hold=hold)
    if not np.array_equal(level.steps, curve.steps):
        raise ValueError("The plateau's curve must have the steps of the curve that is compared with it.")
    target = np.asarray(level.values) - margin
    if not np.isfinite(target).all():
        raise ValueError("The plateau's curve must be finite.")
    return steps_to(curve, target, hold=hold)
