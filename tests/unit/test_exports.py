"""Proves that nobody holds other readers' exports: of one address few wait, nobody waits long, and both are said."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from analysis.errors import Busy
from dashboard import exports

SECONDS = 10.0


@pytest.fixture
def held(monkeypatch) -> Iterator[threading.Event]:
    """One address holds all of its places; the event lets it go."""
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    began, end = threading.Event(), threading.Event()

    def slow() -> bytes:
        began.set()
        assert end.wait(SECONDS)
        return b"slow"

    with ThreadPoolExecutor(exports.AT_ONCE) as others:
        running = [others.submit(exports.in_turn, slow, "192.0.2.1") for _ in range(exports.AT_ONCE)]
        assert began.wait(SECONDS)
        while exports._places._held["192.0.2.1"] < exports.AT_ONCE:
            pass
        yield end
        end.set()
        assert [one.result(SECONDS) for one in running] == [b"slow"] * exports.AT_ONCE


def test_an_address_with_files_on_their_way_gets_no_third_place(held):
    with pytest.raises(Busy, match="2 files of your network address are on their way"):
        exports.in_turn(lambda: b"third", "192.0.2.1")


def test_another_address_waits_so_long_and_is_told(held, monkeypatch):
    monkeypatch.setattr(exports, "WAIT_SECONDS", 0.05)
    with pytest.raises(Busy, match="Files for others are being made"):
        exports.in_turn(lambda: b"mine", "192.0.2.2")


def test_another_address_has_its_turn(held):
    with ThreadPoolExecutor(1) as mine:
        asked = mine.submit(exports.in_turn, lambda: b"mine", "192.0.2.2")
        held.set()
        assert asked.result(SECONDS) == b"mine"


def test_what_fails_gives_its_turn_and_its_place_back(monkeypatch):
    monkeypatch.setenv("ADDEND_HOSTED", "1")

    def fails() -> bytes:
        raise ValueError("no")

    for _ in range(exports.AT_ONCE + 1):
        with pytest.raises(ValueError, match="no"):
            exports.in_turn(fails, "192.0.2.1")
    assert exports.in_turn(lambda: b"mine", "192.0.2.1") == b"mine"
