"""Every page is in one room, or below the list, and an address is read as Streamlit writes it."""

from collections import Counter

import pytest

from analysis.links import VIEWS
from analysis.moved_links import MOVED, moved
from dashboard.session.rooms import FOOTER, ROOMS, path_of, room_of


def test_every_page_is_in_one_room_or_below_the_list() -> None:
    inside = Counter(page for room in ROOMS for page in room.pages + room.former)
    assert set(inside) | {FOOTER} == set(VIEWS)
    assert set(inside.values()) == {1}
    assert room_of(FOOTER) is None


def test_a_room_leads_to_its_first_page_or_to_the_one_that_is_open() -> None:
    room = room_of("sql")
    assert room is not None
    assert room.shown("sql") == "sql"
    assert room.shown("claims") == room.shown("") == room.pages[0]


def test_a_page_that_is_a_part_of_another_now_is_in_its_room_and_not_listed() -> None:
    assert {page for room in ROOMS for page in room.former} == set(MOVED)
    for page in MOVED:
        room = room_of(page)
        assert room is not None
        assert room.shown(page) == MOVED[page][0] == room.pages[0]


@pytest.mark.parametrize("page", MOVED)
def test_a_moved_link_keeps_every_value_under_its_name_or_that_with_the_topic(page: str) -> None:
    """But for the switch of the permutation test, which is a figure now, and for what both of two sides have."""
    other = {str: str, int: len, bool: bool, tuple: lambda name: (name,)}
    values = {field.name: other[type(field.default)](field.name) for field in VIEWS[page].fields}
    today, fields = moved(page, values)
    assert set(fields) == set(VIEWS[today].defaults())
    for name in values:
        names = [field for field in fields if field == name or field.endswith(f"_{name}") or field in ("part", "look")]
        follows = name.endswith("2") and not fields.get(name) and values[name] == values[name.removesuffix("2")]
        shown_elsewhere = name == "permute" or (page, name) == ("depth", "part")
        assert shown_elsewhere or follows or values[name] in [fields[field] for field in names], name


def test_a_page_of_today_keeps_its_link() -> None:
    assert moved("geometry", {"part": "words"}) == ("geometry", {"part": "words"})


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("http://localhost:8501/depth?models=a", "depth"),
        ("https://addend.example.org/base/depth", "depth"),
        ("http://localhost:8501/", ""),
        ("http://localhost:8501", ""),
        (None, ""),
    ],
)
def test_the_page_of_an_address(address: str | None, path: str) -> None:
    assert path_of(address) == path


def test_the_name_of_the_room_of_runs_leads_to_them() -> None:
    assert moved("data", {}) == ("runs", VIEWS["runs"].defaults())
