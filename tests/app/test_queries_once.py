"""Proves that no page asks the store the same question twice, whichever of its parts are opened one after another.

DuckDB itself is counted, not a cache.
"""

import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from analysis.store import read
from dashboard.widgets.inside import corpus
from tests.app.shown import PAGES, opened

PARTS = {
    "experiments": (
        "board",
        "curves",
        "gap",
        "parts",
        "settings",
        "convergence",
        "length",
        "scores",
        "costs",
        "glue",
        "published",
    ),
    "geometry": ("angles", "directions", "subspaces", "ranks", "heads", "states", "words"),
    "choose": ("needs", "cost", "length", "evidence"),
}
FURTHER = {
    "choose": [{"look": look} for look in ("values", "distance", "all")],
    "inside": [
        {"over": "corpus"},
        *({"tab": "layers", "over": "corpus", "look": name} for name in corpus.LOOKS),
    ],
    "experiments": [{"part": "glue", "glue_view": "scores"}, {"part": "published", "published_view": "scores"}],
    "claims": [{"claim": "C01"}],
}
OPENINGS: dict[str, list[dict[str, str]]] = {
    page: [*({"part": part} for part in PARTS.get(page, ())), *([] if page in PARTS else [{}]), *FURTHER.get(page, [])]
    for page in PAGES
}
"""The links with which each page is opened."""


class Recorder:
    """A connection that counts what it is asked."""

    def __init__(self, connection: Any, asked: Counter[str]) -> None:
        self._connection, self._asked = connection, asked

    def execute(self, sql: str, parameters: list[object]) -> Any:
        self._asked[f"{' '.join(sql.split())} {parameters}"] += 1
        return self._connection.execute(sql, parameters)


@pytest.fixture
def asked(built: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The queries from now on, with how often each was asked. The store is a new one, so no cache holds answers."""
    store = tmp_path / "addend.duckdb"
    shutil.copyfile(built, store)
    monkeypatch.setenv("ADDEND_STORE", str(store))
    counts, connect = Counter[str](), read.connect

    @contextmanager
    def recording(path: Path | None = None) -> Iterator[Recorder]:
        with connect(path) as connection:
            yield Recorder(connection, counts)

    monkeypatch.setattr(read, "connect", recording)
    return counts


@pytest.mark.parametrize("page", OPENINGS)
def test_no_question_is_asked_twice(asked: Counter[str], page: str) -> None:
    for link in OPENINGS[page]:
        app = opened(page, **link)
        assert not app.exception, link
        assert {question: times for question, times in asked.items() if times > 1} == {}, link
    assert asked or page == "import", "a page that asks nothing proves nothing"


def test_questions_are_counted(asked: Counter[str]) -> None:
    opened("experiments", part="curves")
    assert any("pretrainings" in question for question in asked)
