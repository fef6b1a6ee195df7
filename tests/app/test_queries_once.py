"""Proves that no page asks the store the same question twice in one opening. DuckDB itself is counted, not a cache."""

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
OPENINGS = [(page, {"part": part}) for page, parts in PARTS.items() for part in parts]
OPENINGS += [(page, {}) for page in PAGES if page not in PARTS]
OPENINGS += [("choose", {"look": look}) for look in ("values", "distance", "all")]
OPENINGS += [("inside", {"over": "corpus"})]
OPENINGS += [("inside", {"tab": "layers", "over": "corpus", "look": name}) for name in corpus.LOOKS]
OPENINGS += [
    ("experiments", {"part": "glue", "glue_view": "scores"}),
    ("experiments", {"part": "published", "published_view": "scores"}),
    ("claims", {"claim": "C01"}),
]


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


@pytest.mark.parametrize(("page", "link"), OPENINGS)
def test_no_question_is_asked_twice(asked: Counter[str], page: str, link: dict[str, str | list[str]]) -> None:
    app = opened(page, **link)
    assert not app.exception
    assert {question: times for question, times in asked.items() if times > 1} == {}


def test_questions_are_counted(asked: Counter[str]) -> None:
    opened("experiments", part="curves")
    assert any("pretrainings" in question for question in asked)
