"""Proves that nobody holds other readers' exports: of one address few wait, nobody waits long, and both are said."""

import io
import re
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pandas as pd
import pytest
from pypdf import PdfReader
from specimens import embedded_loaded

from analysis.core.errors import Busy
from analysis.figures import FIGURES, export
from analysis.probes.text_probe import LayersRequest
from dashboard.widgets import exports
from dashboard.widgets.show.menu import tiny_columns

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

    with ThreadPoolExecutor(exports.MAX_PENDING) as others:
        running = [others.submit(exports.take_turn, slow, "192.0.2.1") for _ in range(exports.MAX_PENDING)]
        assert began.wait(SECONDS)
        while exports._slots._active["192.0.2.1"] < exports.MAX_PENDING:
            pass
        yield end
        end.set()
        assert [one.result(SECONDS) for one in running] == [b"slow"] * exports.MAX_PENDING


def test_an_address_with_files_on_their_way_gets_no_third_place(held):
    with pytest.raises(Busy, match="2 files of your network address are on their way"):
        exports.take_turn(lambda: b"third", "192.0.2.1")


def test_another_address_waits_so_long_and_is_told(held, monkeypatch):
    monkeypatch.setattr(exports, "WAIT_SECONDS", 0.05)
    with pytest.raises(Busy, match="making files for others"):
        exports.take_turn(lambda: b"mine", "192.0.2.2")


def test_another_address_has_its_turn(held):
    with ThreadPoolExecutor(1) as mine:
        asked = mine.submit(exports.take_turn, lambda: b"mine", "192.0.2.2")
        held.set()
        assert asked.result(SECONDS) == b"mine"


def test_what_fails_gives_its_turn_and_its_place_back(monkeypatch):
    monkeypatch.setenv("ADDEND_HOSTED", "1")

    def fails() -> bytes:
        raise ValueError("no")

    for _ in range(exports.MAX_PENDING + 1):
        with pytest.raises(ValueError, match="no"):
            exports.take_turn(fails, "192.0.2.1")
    assert exports.take_turn(lambda: b"mine", "192.0.2.1") == b"mine"


def test_many_readers_at_once_each_get_the_file_that_one_alone_gets(monkeypatch):
    """Twelve readers of twelve addresses, each form of two figures in turn: no file is another's, cut or mixed."""
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    monkeypatch.setattr(exports, "WAIT_SECONDS", 60.0)
    monkeypatch.setattr(export, "now", lambda: "2026-01-01T00:00:00Z")
    params = {"model": "", "revision": "", "pair": "", "truncate": False, "layer": 0, "measure": "share"}
    texts = [{**params, "term": "word_to_word", "text": text} for text in ("The cat sat.", "On the mat.")]
    figures = [FIGURES["probe_layers"].of(one, LayersRequest.of(one).run(embedded_loaded())) for one in texts]
    asked = [(figure, form) for figure in figures for form in export.FORMATS]
    alone = [same(export.render(figure, form, "https://addend.example")) for figure, form in asked]
    assert len(set(alone)) == len(asked)

    def reader(number: int) -> dict[int, bytes]:
        address = f"192.0.2.{number}"
        order = [(4 * number + step) % len(asked) for step in range(4)]
        return {
            place: same(exports.take_turn(partial(export.render, *asked[place], "https://addend.example"), address))
            for place in order
        }

    given: Counter[int] = Counter()
    with ThreadPoolExecutor(12) as readers:
        for files in readers.map(reader, range(12)):
            given.update(files.keys())
            assert all(file == alone[place] for place, file in files.items())
    assert len(given) == len(asked)
    assert min(given.values()) >= 2
    assert not exports._slots._active
    assert not exports._lock.locked()


def same(file: bytes) -> bytes:
    """A file without what its library counts up or makes anew each time; of a PDF, its size, words and manifest."""
    if file.startswith(b"%PDF"):
        reader = PdfReader(io.BytesIO(file))
        page = reader.pages[0]
        return f"{page.mediabox} {page.extract_text()}".encode() + reader.attachments["manifest.json"][0]
    return re.sub(rb"(clip|gradient_?)\d+", b"", file)


def test_numbers_next_to_zero_are_shown_with_a_power_of_ten() -> None:
    frame = pd.DataFrame({"a": [0.5, 5.8e-285], "b": [0.0, 0.25], "c": [1, 2], "d": ["x", "y"], "e": [None, -1e-12]})
    assert tiny_columns(frame) == ["a", "e"]
