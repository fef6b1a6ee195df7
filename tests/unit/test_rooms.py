"""Every page is in one room, or below the list, and an address is read as Streamlit writes it."""

from collections import Counter

import pytest

from analysis.links import VIEWS
from dashboard.session.moved_pages import MOVED
from dashboard.session.rooms import FOOTER, ROOMS, path_of, room_of


def test_every_page_is_in_one_room_or_below_the_list() -> None:
    inside = Counter(page for room in ROOMS for page in room.pages + room.former)
    assert set(inside) | {FOOTER} == set(VIEWS)
    assert set(inside.values()) == {1}
    assert room_of(FOOTER) is None


def test_a_room_leads_to_its_first_page_or_to_the_one_that_is_open() -> None:
    room = room_of("training")
    assert room is not None
    assert room.shown("training") == "training"
    assert room.shown("claims") == room.shown("") == room.pages[0]


def test_a_page_that_is_a_part_of_another_now_is_in_its_room_and_not_listed() -> None:
    assert {page for room in ROOMS for page in room.former} == set(MOVED)
    for page in MOVED:
        room = room_of(page)
        assert room is not None
        assert room.shown(page) == "inside"


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
