"""Proves that names beside points cover neither one another, nor a point, nor the line that they are told to spare."""

import numpy as np
import pandas as pd
import pytest

from analysis.core import frames
from analysis.figures import marks
from analysis.figures.beside_points import ALONE, GAP, RADIUS, TOUCHING, placed

WIDTH, HEIGHT = 400, 200
DOMAIN = ((0.0, WIDTH), (0.0, HEIGHT))


def boxes(found: pd.DataFrame) -> list[tuple[float, float, float, float]]:
    """Left, top, right and bottom of each name, in pixels; here a unit of an axis is a pixel."""
    result = []
    for row in frames.rows(found):
        lines = row.name.splitlines()
        length, first = marks.LABEL_LETTER * max(map(len, lines)), HEIGHT - row.y + row.down
        start = row.x + row.away
        left, last = start if row.side == "right" else start - length, marks.LABEL_LINE * (len(lines) - 1)
        result.append((left, first - marks.LABEL_LINE / 2, left + length, first + last + marks.LABEL_LINE / 2))
    return result


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def crowd(count: int, seed: int = 0) -> pd.DataFrame:
    draws = np.random.default_rng(seed).uniform(0, 1, (count, 2)) * [WIDTH, HEIGHT]
    return pd.DataFrame({"x": draws[:, 0], "y": draws[:, 1], "name": [f"variant {k}" for k in range(count)]}).assign(
        named=True
    )


def test_no_name_covers_another_name_or_a_point() -> None:
    points = crowd(60)
    found = placed(points, DOMAIN, WIDTH, HEIGHT)
    names = boxes(found)
    dots = [
        (x - RADIUS, HEIGHT - y - RADIUS, x + RADIUS, HEIGHT - y + RADIUS)
        for x, y in zip(points.x, points.y, strict=True)
    ]
    assert 5 < len(found) < len(points), "some find room, and not all"
    for place, name in enumerate(names):
        assert 0 <= name[0] <= name[2] <= WIDTH
        assert 0 <= name[1] <= name[3] <= HEIGHT
        assert not any(overlap(name, other) for other in [*names[:place], *dots])


def test_the_first_point_has_its_name_and_one_without_a_name_gets_none() -> None:
    points = crowd(60).assign(named=lambda rows: rows.index != 3)
    found = placed(points, DOMAIN, WIDTH, HEIGHT)
    assert "variant 0" in set(found.name)
    assert "variant 3" not in set(found.name)


def test_a_name_that_a_figure_can_do_without_takes_three_lines_at_most() -> None:
    points = pd.DataFrame({"x": [200.0], "y": [100.0], "name": ["Added and then projected back"], "named": [True]})
    walls = [[(place, 0.0), (place, float(HEIGHT))] for place in (120.0, 270.0)]
    (found,) = frames.rows(placed(points, DOMAIN, WIDTH, HEIGHT, walls, every=True))
    assert len(found.name.splitlines()) > 3
    (found,) = frames.rows(placed(points.assign(named=False), DOMAIN, WIDTH, HEIGHT, walls, every=True))
    assert len(found.name.splitlines()) <= 3
    assert abs(found.away) > GAP, "it stands further away, at the end of a line"


def test_a_name_spares_the_line() -> None:
    points = pd.DataFrame({"x": [100.0], "y": [100.0], "name": ["variant"], "named": [True]})
    assert placed(points, DOMAIN, WIDTH, HEIGHT).down.tolist() == [0]
    line = [(100.0, 100.0), (300.0, 100.0)]
    (name,) = boxes(found := placed(points, DOMAIN, WIDTH, HEIGHT, [line]))
    assert not overlap(name, (100, 100, 300, 100))
    assert found.side.tolist() == ["left"], "the nearest place that is free"


def test_a_name_is_broken_between_words_where_one_line_finds_no_room() -> None:
    points = pd.DataFrame({"x": [200.0], "y": [100.0], "name": ["Concatenated and projected"], "named": [True]})
    assert placed(points, DOMAIN, WIDTH, HEIGHT).name.tolist() == points.name.tolist()
    walls = [[(place, 0.0), (place, float(HEIGHT))] for place in (120.0, 290.0)]
    (found,) = frames.rows(placed(points, DOMAIN, WIDTH, HEIGHT, walls))
    assert found.name == "Concatenated\nand projected"
    assert found.down == -marks.LABEL_LINE / 2, "both lines together stand beside the point"


def test_a_name_that_a_figure_can_do_without_stands_right_beside_its_own_point_or_has_a_line_to_it() -> None:
    """So that it cannot be taken for the name of another; what must be named is named nonetheless."""
    for crowded in (20, 60):
        points = crowd(crowded).assign(named=lambda rows: rows.index < 3)
        found = placed(points, DOMAIN, WIDTH, HEIGHT, every=True)
        optional = found[~found.named.astype(bool)]
        assert len(optional)
        assert len(found) > len(optional)
        for row in frames.rows(optional):
            lines = row.name.count("\n")
            away = np.hypot(points.x - row.x, points.y - row.y)
            if abs(row.away) == GAP:
                assert (away[away > 0] >= ALONE).all()
                assert row.down == -marks.LABEL_LINE * lines / 2, "its middle is level with its point"
            else:
                assert abs(row.away) > GAP, "further away it has a line"


@pytest.mark.parametrize("seed", range(6))
def test_a_line_to_a_name_runs_through_no_other_point(seed: int) -> None:
    """It would seem to come from there. The points lie so loosely that another place is always free."""
    points = crowd(15, seed).assign(named=False)
    found = placed(points, DOMAIN, WIDTH, HEIGHT, every=True)
    led = found[found.away.abs() > GAP]
    assert len(led)
    others = np.stack([points.x, HEIGHT - points.y], axis=1)
    for row in frames.rows(led):
        offsets, line = others - [row.x, HEIGHT - row.y], np.array([row.away - 2 * np.sign(row.away), row.down])
        along = np.clip(offsets @ line / (line @ line), 0, 1)
        near = np.linalg.norm(offsets - along[:, None] * line, axis=1) <= RADIUS
        assert not near[np.linalg.norm(offsets, axis=1) > TOUCHING].any()


def test_names_of_points_that_lie_close_together_stand_in_a_column_in_their_order() -> None:
    points = pd.DataFrame({"x": [100.0, 103.0, 100.0], "y": [100.0, 95.0, 108.0], "name": list("abc"), "named": False})
    found = placed(points, DOMAIN, WIDTH, HEIGHT, every=True)
    starts = found.x + found.away
    levels = (HEIGHT - found.y + found.down).tolist()
    assert found.name.tolist() == ["c", "a", "b"], "from the top"
    assert starts.nunique() == 1
    assert np.diff(levels).tolist() == [marks.LABEL_LINE] * 2
    assert not placed(points, DOMAIN, WIDTH, HEIGHT).size, "a plot that names the first alone has none of these"
