"""A measurement that is cut off goes on where it was, to the same numbers; nothing else is taken for its own."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from specimens import PAIR, TEXT, tiny_bert, tiny_tokenizer

from analysis.core.errors import StoreError
from analysis.measurements.interventions.corpus import intervene_corpus
from analysis.measurements.terms.corpus import measure_corpus
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.store import files, unfinished
from analysis.store.unfinished import FOLDER, PartialResults

TEXTS = [(TEXT, None), PAIR, ("the cat .", None), ("a dog ran on the hill .", None)]
MEASURE: dict[str, Callable[..., Path]] = {"terms": measure_corpus, "interventions": intervene_corpus}


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setattr(unfinished, "git_sha", lambda: "abc")
    return tmp_path


def loaded() -> Loaded:
    return Loaded(tiny_bert(), tiny_tokenizer(), Source("tiny", "r1", Path(), {"model_type": "bert"}), "cpu")


def kept(data: Path) -> int:
    return len(list((data / FOLDER).glob("*/*.npz")))


def cut_off(after: int) -> Iterator[int]:
    yield from range(after)
    raise KeyboardInterrupt


def measured(kind: str, **more: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    _, table, run = files.read(MEASURE[kind](loaded(), TEXTS, "made_up", **more))
    return table.to_pylist(), run


@pytest.mark.parametrize("kind", MEASURE)
def test_it_goes_on_where_it_was_to_the_same_numbers(kind: str, data: Path) -> None:
    whole, run = measured(kind)
    assert run["config"]["resumed"] == 0
    assert not kept(data)
    with pytest.raises(KeyboardInterrupt):
        measured(kind, each=cut_off(3))
    assert kept(data) == 3
    again, run = measured(kind)
    assert run["config"]["resumed"] == 3
    np.testing.assert_equal(again, whole)
    assert not kept(data)


@pytest.mark.parametrize("kind", MEASURE)
def test_an_item_that_was_cut_off_while_it_was_written_is_measured_again(kind: str, data: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        measured(kind, each=cut_off(2))
    first = next((data / FOLDER).glob("*/0.npz"))
    first.write_bytes(first.read_bytes()[:-40])
    assert measured(kind)[1]["config"]["resumed"] == 1


def test_other_settings_code_or_libraries_share_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    PartialResults(freeze="half").save(0, {"x": np.ones(2)})
    assert PartialResults(freeze="half").get(0) is not None
    assert PartialResults(freeze="other").get(0) is None
    monkeypatch.setattr(unfinished, "git_sha", lambda: "def")
    assert PartialResults(freeze="half").get(0) is None


def test_code_that_is_not_committed_keeps_nothing(monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    monkeypatch.setattr(unfinished, "git_sha", lambda: "abc+")
    PartialResults().save(0, {"x": np.ones(2)})
    assert PartialResults().get(0) is None
    assert not (data / FOLDER).exists()


def test_a_folder_that_cannot_be_written_is_said(data: Path) -> None:
    (data / FOLDER).write_text("a file where the folder should be")
    with pytest.raises(StoreError, match="ADDEND_DATA"):
        PartialResults().save(0, {"x": np.ones(2)})
