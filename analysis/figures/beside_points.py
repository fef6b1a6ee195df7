"""Names beside the points of a scatter, each at a free place; the last ones are left out where there is none."""

import math
from collections.abc import Sequence
from itertools import pairwise, product

import altair as alt
import numpy as np
import pandas as pd

from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme

GAP = 9
"""Pixels between a point and its name."""
RADIUS = 5
"""Pixels from the middle of a point to its edge."""
TOUCHING = 2 * RADIUS + 2
"""Pixels between points up to which their marks touch, so that a line from one may begin in the other."""
SHIFTS = (0, -7, 7, -13, 13, -20, 20, -28, 28, -38, 38, -50, 50)
"""The pixels by which a name may stand above or below its point, in the order in which they are tried."""
ALONE = 14
"""The pixels around a point within which another leaves it without a name that the figure can do without."""
LEADER = 12
"""The pixels above or below its point from which on a line leads to a name."""
LETTERS = (100, 18, 13, 9)
"""The most letters in a line of a name, in the order in which they are tried; no word is broken."""
MOST_LINES = 3
"""The most lines of a name that the figure can do without."""
AWAY = (14, 24, 40, 60, 90, 130)
"""The pixels between points that stand close together and the column of their names, in the order of trial."""
PHONE_PLOT = 250
"""The width in pixels of a plot on a phone."""

Box = tuple[float, float, float, float]


def placed(
    points: pd.DataFrame,
    domain: tuple[Sequence[float], Sequence[float]],
    width: float,
    height: float,
    lines: Sequence[Sequence[tuple[float, float]]] = (),
    *,
    every: bool = False,
) -> pd.DataFrame:
    """The rows whose names find room: `side`, left or right, `away` and `down`, the pixels from the point to its name.

    A name is broken into lines where it finds no room in one; `down` is of the first.

    points: x, y, name and named, those that matter most first. domain: both ends of each axis. lines: corners of
    lines of level and upright pieces that no name may cover. every: the others are named as well, exactly beside their
    points; where these have no room, or are so near that a name could be taken for another's, at the end of a line.
    """
    (left, right), (bottom, top) = domain

    def in_pixels(x: float, y: float) -> tuple[float, float]:
        return (x - left) / (right - left) * width, (top - y) / (top - bottom) * height

    places = [in_pixels(x, y) for x, y in zip(points.x, points.y, strict=True)]
    taken: list[Box] = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in places]
    for line in lines:
        for (x, y), (next_x, next_y) in pairwise(in_pixels(*corner) for corner in line):
            taken.append((min(x, next_x) - 1, min(y, next_y) - 1, max(x, next_x) + 1, max(y, next_y) + 1))
    rows = []
    close = [
        any(math.dist(place, other) < ALONE for other in places[:index] + places[index + 1 :])
        for index, place in enumerate(places)
    ]
    done: set[int] = set()
    written: list[Box] = []

    def place_column(group: Sequence[int]) -> None:
        for name, side, away, down, index in _column(group, points.name, places, taken, written, (width, height)):
            rows.append(points.iloc[index].to_dict() | {"name": name, "side": side, "away": away, "down": down})
            done.add(index)

    for group in _groups([index for index, near in enumerate(close) if near], places) if every else ():
        place_column(group)
    for index, (x, y) in enumerate(places):
        needed = points.named.iloc[index]
        if index in done or (not needed and (close[index] or not every)):
            continue
        for name, shift, side in product(_wrapped(points.name.iloc[index]), SHIFTS, ("right", "left")):
            name_lines = name.splitlines()
            if not needed and (shift or len(name_lines) > MOST_LINES):
                continue
            length, rest = marks.LABEL_LETTER * max(map(len, name_lines)), marks.LABEL_LINE * (len(name_lines) - 1)
            start = x + GAP if side == "right" else x - GAP - length
            first = y + shift - rest / 2
            half = marks.LABEL_LINE / 2 + 1
            box = (start, first - half, start + length, first + half + rest)
            if box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > height:
                continue
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                written.append(box)
                away = GAP if side == "right" else -GAP
                rows.append(
                    points.iloc[index].to_dict() | {"name": name, "side": side, "away": away, "down": first - y}
                )
                done.add(index)
                break
    for index in range(len(places)) if every else ():
        if index not in done:
            place_column([index])
    return pd.DataFrame(rows, columns=[*points.columns, "side", "away", "down"])


def _groups(indices: Sequence[int], places: Sequence[tuple[float, float]]) -> list[list[int]]:
    """The points that stand close together, from the top of the plot to its bottom."""
    groups: list[list[int]] = []
    for index in sorted(indices, key=lambda index: places[index][1]):
        near = [group for group in groups if any(math.dist(places[index], places[other]) < ALONE for other in group)]
        groups = [group for group in groups if group not in near] + [[*(one for group in near for one in group), index]]
    return groups


def _column(
    group: Sequence[int],
    names: pd.Series,
    places: Sequence[tuple[float, float]],
    taken: list[Box],
    written: list[Box],
    room: tuple[float, float],
) -> list[tuple[str, str, float, float, int]]:
    """The names of a group one below the other, each with its side and the pixels to it, at the first free place.

    No name covers what is `taken`, and no line what is `written`; what is placed is added to both. Nothing where no
    place is free.
    """
    middle = sum(places[index][1] for index in group) / len(group)
    shifts = (0, *(sign * 6 * step for step in range(1, 16) for sign in (-1, 1)))
    # The nearest place; a line that runs through another point seems to come from there: only where none else is free.
    options = product((False, True), LETTERS[:2], AWAY, shifts, (1, -1))
    for through, letters, away, shift, sign in sorted(options, key=lambda one: (one[0], math.hypot(one[2], one[3]))):
        wrapped = [marks.wrap_label(names.iloc[index], letters) for index in group]
        counts = [len(name.splitlines()) for name in wrapped]
        edge = max(sign * places[index][0] for index in group) * sign + sign * away
        top = middle + shift - marks.LABEL_LINE * sum(counts) / 2
        boxes: list[Box] = []
        for name, count in zip(wrapped, counts, strict=True):
            end = edge + sign * marks.LABEL_LETTER * max(map(len, name.splitlines()))
            boxes.append((min(edge, end), top, max(edge, end), top + marks.LABEL_LINE * count))
            top = boxes[-1][3]
        inside = all(box[0] >= 0 and box[1] >= 0 and box[2] <= room[0] and box[3] <= room[1] for box in boxes)
        if not inside or any(_overlap(box, other) for box in boxes for other in taken):
            continue
        ends = [(edge - 2 * sign, box[1] + marks.LABEL_LINE / 2) for box in boxes]
        leaders = [dot for index, end in zip(group, ends, strict=True) for dot in _dots(places[index], end)]
        if any(_overlap(dot, other) for dot in leaders for other in written):
            continue
        if not through and any(
            _runs_through(places[index], end, place)
            for index, end in zip(group, ends, strict=True)
            for place in places
            if math.dist(places[index], place) > TOUCHING
        ):
            continue
        written += [*boxes, *leaders]
        taken += [*boxes, *leaders]
        return [
            (
                name,
                "right" if sign > 0 else "left",
                edge - places[index][0],
                box[1] + marks.LABEL_LINE / 2 - places[index][1],
                index,
            )
            for name, box, index in zip(wrapped, boxes, group, strict=True)
        ]
    return []


def _dots(start: tuple[float, float], end: tuple[float, float]) -> list[Box]:
    """A line in small boxes, without its beginning, where lines from points close together lie on one another."""
    steps = [(step / 12) for step in range(4, 12)]
    middles = [tuple(a + step * (b - a) for a, b in zip(start, end, strict=True)) for step in steps]
    return [(x - 1, y - 1, x + 1, y + 1) for x, y in middles]


def _runs_through(start: tuple[float, float], end: tuple[float, float], point: tuple[float, float]) -> bool:
    """True if a line comes so near to a point that it touches its mark."""
    line, offset = np.subtract(end, start), np.subtract(point, start)
    along = np.clip(offset @ line / (line @ line), 0, 1)
    return math.dist(along * line, offset) <= RADIUS + 1


def _wrapped(name: str) -> list[str]:
    """A name in one line and in more."""
    longest = max(map(len, name.split()))
    return list(dict.fromkeys(marks.wrap_label(name, letters) for letters in LETTERS if letters >= longest))


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def names(
    points: pd.DataFrame,
    domain: tuple[Sequence[float], Sequence[float]],
    x: alt.X,
    y: alt.Y,
    theme: Theme,
    *,
    width: int,
    height: int,
    lines: Sequence[Sequence[tuple[float, float]]] = (),
) -> list[Chart]:
    """The layers of the names, placed once for a wide plot and once for a phone's; `placed` says what is given.

    A wide plot also names points that a phone has no room for.
    """
    layers: list[Chart] = []
    for room, every, hidden in ((width, True, marks.ON_PHONE), (PHONE_PLOT, False, f"!({marks.ON_PHONE})")):
        found = placed(points, domain, room, height, lines, every=every)
        # A line to each name that stands beside another point.
        led = found[(found.down.abs() >= LEADER) | (found.away.abs() > GAP)]
        if len(led):
            leader = alt.Chart(led.assign(end=led.away - 2 * np.sign(led.away))).mark_rule(
                color=theme.ink, strokeWidth=0.75, x2Offset=alt.expr("datum.end"), y2Offset=alt.expr("datum.down"),
                opacity=alt.expr(f"{hidden} ? 0 : 0.8"),
            )  # fmt: skip
            layers.append(leader.encode(x=x, x2=alt.X2("x:Q"), y=y, y2=alt.Y2("y:Q")))
        for side, group in found.groupby("side"):
            style = {
                "align": "left" if side == "right" else "right",
                "dx": alt.expr("datum.away"),
                "dy": alt.expr("datum.down"),
                "fontSize": marks.TEXT,
                "lineBreak": "\n",
                "lineHeight": marks.LABEL_LINE,
                # Not there at all, since a name that is merely not seen takes room at the edge of the plot.
                "text": alt.expr(f"{hidden} ? '' : datum.name"),
            }
            text = alt.Chart(group).encode(x=x, y=y)
            layers += [
                text.mark_text(**style, stroke=theme.ground, strokeWidth=3, strokeJoin="round"),
                text.mark_text(**style, color=theme.ink),
            ]
    return layers
