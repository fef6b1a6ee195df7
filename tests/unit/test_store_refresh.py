"""Proves that pages learn of new files and of a new store, though what was seen is kept for a moment."""

from analysis import store_build
from analysis.store.paths import store_path
from tests import trainings


def test_a_new_file_and_a_store_built_by_another_process_are_noticed(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setattr(store_build, "CHECK_INTERVAL", 0)
    assert not store_build.is_current()
    store_build.refresh()
    assert store_build.is_current()
    trainings.write("bert_a", 0, trainings.line([0, 10], [7.0, 6.0]))
    assert not store_build.is_current()
    store_build.refresh()
    assert store_build.is_current()
    store_path().unlink()
    assert not store_build.is_current()


def test_the_files_are_not_looked_at_again_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    store_build.refresh()
    looks = []
    monkeypatch.setattr(store_build, "CHECK_INTERVAL", 1e6)
    monkeypatch.setattr(store_build, "fingerprint", lambda rows: looks.append(1) or "seen")
    assert not store_build.is_current()
    assert not store_build.is_current()
    assert len(looks) == 1
