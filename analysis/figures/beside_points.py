"""Names beside the points of a scatter, each at a free place; the last ones are left out where there is none."""

import math
from collections.abc import Sequence
from itertools import pairwise, product

import altair as alt
import pandas as pd

from analysis.figures import marks
from analysis.figures.drawing import Chart, Theme

GAP = 9
"""Pixels between a point and its name."""
RADIUS = 5
"""Pixels from the middle of a point to its edge."""
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
    """The rows whose names find room: `side`, which is left or right, and `down`, the pixels that it stands lower.

    A name is broken into lines where it finds no room in one; `down` is of the first.

    points: x, y, name and named, those that matter most first. domain: both ends of each axis. lines: corners of
    lines of level and upright pieces that no name may cover. every: the others are named as well, exactly beside their
    points, where no other point is so near that the name could be taken for its own.
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
    for index, (x, y) in enumerate(places):
        needed = points.named.iloc[index]
        near = any(
            math.hypot(x - other_x, y - other_y) < ALONE for other_x, other_y in places[:index] + places[index + 1 :]
        )
        if not needed and (near or not every):
            continue
        for name, shift, side in product(_wrapped(points.name.iloc[index]), SHIFTS, ("right", "left")):
            written = name.splitlines()
            if not needed and (shift or len(written) > MOST_LINES):
                continue
            length, rest = marks.LABEL_LETTER * max(map(len, written)), marks.LABEL_LINE * (len(written) - 1)
            start = x + GAP if side == "right" else x - GAP - length
            first = y + shift - rest / 2
            half = marks.LABEL_LINE / 2 + 1
            box = (start, first - half, start + length, first + half + rest)
            if box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > height:
                continue
            if not any(_overlap(box, other) for other in taken):
                taken.append(box)
                rows.append(points.iloc[index].to_dict() | {"name": name, "side": side, "down": first - y})
                break
    return pd.DataFrame(rows, columns=[*points.columns, "side", "down"])


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

    A wide plot also names points that have room right beside them; in bold are those that a phone names too.
    """
    layers: list[Chart] = []
    points = points.assign(weight=[600 if named else 400 for named in points.named])
    for room, every, hidden in ((width, True, marks.ON_PHONE), (PHONE_PLOT, False, f"!({marks.ON_PHONE})")):
        found = placed(points, domain, room, height, lines, every=every)
        # A line to each name that stands beside another point.
        for side, group in found[found.down.abs() >= LEADER].groupby("side"):
            gap = GAP - 2 if side == "right" else 2 - GAP
            leader = alt.Chart(group).mark_rule(
                color=theme.ink, strokeWidth=0.75, x2Offset=gap, y2Offset=alt.expr("datum.down"),
                opacity=alt.expr(f"{hidden} ? 0 : 0.8"),
            )  # fmt: skip
            layers.append(leader.encode(x=x, x2=alt.X2("x:Q"), y=y, y2=alt.Y2("y:Q")))
        for side, group in found.groupby("side"):
            style = {
                "align": "left" if side == "right" else "right",
                "dx": GAP if side == "right" else -GAP,
                "dy": alt.expr("datum.down"),
                "fontSize": marks.TEXT,
                "fontWeight": alt.expr("datum.weight"),
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
