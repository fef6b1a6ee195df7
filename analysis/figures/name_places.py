"""Places of names at curves: each nearest to its own curve and clear of all others, on a wide screen and on a phone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

GAP = 8
"""Pixels between a curve and its name."""
CLEAR = 5
"""Pixels that a name keeps from every other curve, and from other names."""
LETTER, LINE = 6.6, 15
"""Pixels of a letter of a name, a little more than on average, and of a line of it."""
ENOUGH = 40
"""Pixels by which another curve is farther from a name than its own, from which a name is as clear as any."""
SIDES, LIFTS = {1: "left", -1: "right"}, (24, 16, 8, 0, -8, -16, -24)
"""The sides of a step, each with the alignment of a name there; and the pixels by which it stands below the step."""
SUM = 0.01
"""The weight of how clear all names are together, beside that of the one which is least so."""
MOST = 60
"""The places of one name, at most, that are tried together with those of the others."""


@dataclass(frozen=True)
class NamedCurve:
    """A curve that goes in steps. along: the middle of each step; values: its height; filled: an area under it."""

    name: str
    along: Float[ndarray, " step"]
    values: Float[ndarray, " step"]
    filled: bool = False


@dataclass(frozen=True)
class Place:
    """A point of a curve, and where its name stands from there: `align`, `dx` and `dy` as in `panels.names_at`."""

    along: float
    value: float
    align: str
    dx: float
    dy: float


@dataclass(frozen=True)
class Plot:
    """The domain and the size in pixels of the plot that curves are drawn in; it is as wide as any of `widths`."""

    low: float
    high: float
    top: float
    widths: Sequence[float]
    height: float

    def across(self, along: Float[ndarray, " point"], width: float) -> Float[ndarray, " point"]:
        """Pixels from the left edge."""
        return (along - self.low) / (self.high - self.low) * width

    def up(self, values: Float[ndarray, " point"]) -> Float[ndarray, " point"]:
        """Pixels from the lower edge."""
        return values / self.top * self.height


def name_places(curves: Sequence[NamedCurve], plot: Plot, uprights: Sequence[float] = ()) -> list[Place]:
    """A place for the name of each curve.

    Of all places for all names, those in which the name that another curve comes nearest to is as clear as it can be.
    uprights: lines from the lower edge to the upper one, which no name crosses.
    """
    tried = [_tried(curve, plot) for curve in curves]
    boxes = [
        [_boxes(places, curve.name, plot, width) for width in plot.widths]
        for places, curve in zip(tried, curves, strict=True)
    ]
    kept = []
    for index in range(len(curves)):
        clear = np.min(
            [_clearance(box, index, curves, plot, width, uprights)
             for box, width in zip(boxes[index], plot.widths, strict=True)],
            axis=0,
        )  # fmt: skip
        best = np.argsort(-np.minimum(clear, ENOUGH), kind="stable")[:MOST]
        kept.append((best, np.minimum(clear[best], ENOUGH)))
    clearances = [clear for _, clear in kept]
    scores = reduce(np.minimum.outer, clearances) + SUM * reduce(np.add.outer, clearances)
    for first, second in combinations(range(len(curves)), 2):
        apart = np.all(
            [_apart(one[kept[first][0]], other[kept[second][0]])
             for one, other in zip(boxes[first], boxes[second], strict=True)],
            axis=0,
        )  # fmt: skip
        shape = [len(best) if index in (first, second) else 1 for index, (best, _) in enumerate(kept)]
        scores = np.where(apart.reshape(shape), scores, scores - 10 * ENOUGH)
    chosen = np.unravel_index(int(scores.argmax()), scores.shape)
    return [places[best[at]] for places, (best, _), at in zip(tried, kept, chosen, strict=True)]


def _tried(curve: NamedCurve, plot: Plot) -> list[Place]:
    """Places at both sides of each step of a curve, at several heights, and above it; those of the highest first."""
    inside = (curve.along > plot.low) & (curve.along < plot.high)
    along, values = curve.along[inside], curve.values[inside]
    half = (along[1] - along[0]) / 2
    middle, rise = -LINE * curve.name.count("\n") / 2, GAP + LINE * (curve.name.count("\n") + 0.5)
    places = []
    for at in np.argsort(-values, kind="stable"):
        for side, align in SIDES.items():
            edge = float(along[at] + side * half)
            places += [Place(edge, float(values[at]), align, side * GAP, middle + lift) for lift in LIFTS]
        places += [Place(float(along[at]), float(values[at]), align, 0, -rise) for align in (*SIDES.values(), "center")]
    return places


def _boxes(places: Sequence[Place], name: str, plot: Plot, width: float) -> Float[ndarray, "place 4"]:
    """The edges of a name at each place, in pixels: left, right, lower, upper."""
    letters = LETTER * max(map(len, name.split("\n")))
    lines = name.count("\n") + 1
    left = np.array([{"left": 0.0, "center": -letters / 2, "right": -letters}[place.align] for place in places])
    x = plot.across(np.array([place.along for place in places]), width) + [place.dx for place in places] + left
    upper = plot.up(np.array([place.value for place in places])) - [place.dy for place in places] + LINE / 2
    return np.stack([x, x + letters, upper - LINE * lines, upper], axis=1)


def _clearance(
    boxes: Float[ndarray, "place 4"],
    own: int,
    curves: Sequence[NamedCurve],
    plot: Plot,
    width: float,
    uprights: Sequence[float],
) -> Float[ndarray, " place"]:
    """Pixels by which the nearest other curve is farther from each box than its own; negative where it is nearer.

    Far below zero where a box leaves the plot, touches a curve or crosses an upright line.
    """
    distances = [_distances(boxes, curve, plot, width) for curve in curves]
    others = np.min([distance for index, distance in enumerate(distances) if index != own], axis=0)
    left, right, lower, upper = boxes.T
    bad = (left < 2) | (right > width - 2) | (lower < 2) | (upper > plot.height)
    bad |= (others < CLEAR) | (distances[own] < CLEAR)
    for upright in plot.across(np.array(uprights), width):
        bad |= (left < upright + CLEAR) & (right > upright - CLEAR)
    return np.where(bad, -5.0 * ENOUGH, others - distances[own])


def _distances(
    boxes: Float[ndarray, "place 4"], curve: NamedCurve, plot: Plot, width: float
) -> Float[ndarray, " place"]:
    """Pixels from each box to a curve: to its line with the uprights between its steps, or to all of its area."""
    half = (curve.along[1] - curve.along[0]) / 2
    across, heights = plot.across(curve.along, width), plot.up(curve.values)
    reach = plot.across(plot.low + half, width)
    left, right, lower, upper = (edge[:, None] for edge in boxes.T)
    # Of each step its level piece, and of each end of it the upright to the next.
    level = np.hypot(
        np.maximum(np.maximum(across - reach - right, left - across - reach), 0),
        np.maximum(lower - heights, 0 if curve.filled else heights - upper).clip(0),
    )
    if curve.filled:
        return level.min(axis=1)
    edges = across[1:] - reach
    low, high = np.minimum(heights[1:], heights[:-1]), np.maximum(heights[1:], heights[:-1])
    upright = np.hypot(
        np.maximum(np.maximum(edges - right, left - edges), 0), np.maximum(np.maximum(low - upper, lower - high), 0)
    )
    return np.minimum(level.min(axis=1), upright.min(axis=1))


def _apart(boxes: Float[ndarray, "place 4"], others: Float[ndarray, "other 4"]) -> Bool[ndarray, "place other"]:
    """True where a box and another do not come near each other."""
    left, right, lower, upper = (edge[:, None] for edge in boxes.T)
    other_left, other_right, other_lower, other_upper = others.T
    beside = (right + CLEAR < other_left) | (other_right + CLEAR < left)
    return beside | (upper + CLEAR < other_lower) | (other_upper + CLEAR < lower)
