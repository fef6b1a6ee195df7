"""Proves that saved probes can lie in a place of their own, out of the store's reach, under ids that nobody guesses."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import store_build
from analysis.core import settings
from analysis.core.errors import SettingError, StoreError
from analysis.probes import saved_probes, text_probe
from analysis.store import read

ROOT = Path(__file__).resolve().parents[2]
SECRET = "a secret of one reader"


@pytest.fixture
def place(tmp_path: Path, data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A place for saved probes alone."""
    found = str(tmp_path / "probes")
    monkeypatch.setenv("ADDEND_PROBES", found)
    return found


def example() -> saved_probes.Decomposition:
    """One that comes with Addend, as somebody's own."""
    return saved_probes.read("example-order")


@pytest.fixture
def examples(data: Path) -> Path:
    folder = data / "probes"
    folder.symlink_to(ROOT / "data/probes")
    return folder


def test_a_place_of_their_own_keeps_them_out_of_the_store(place: str, data: Path, examples: Path) -> None:
    store_build.refresh()
    made = example()
    probe_id = text_probe.save(made, SECRET)
    assert store_build.is_current(), "a saved probe does not have the store built anew"
    assert not (examples / f"{probe_id}.parquet").exists()
    assert probe_id not in read.query("SELECT probe_id FROM saved_probes").probe_id.tolist()
    assert not [path for path in data.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    back = saved_probes.read(probe_id)
    assert back.probe_id == probe_id
    np.testing.assert_array_equal(back.total(), made.total())
    assert text_probe.obtain({"probe": probe_id}).provenance.text == made.provenance.text


def test_an_id_is_long_and_random_and_leads_nowhere_else(place: str, examples: Path, tmp_path: Path) -> None:
    made = example()
    ids = {text_probe.save(made, title) for title in ("one", "two", "three")}
    assert len(ids) == 3
    assert all(len(one) == 32 and int(one, 16) for one in ids)
    (tmp_path / "other.parquet").write_bytes((examples / "example-order.parquet").read_bytes())
    for wrong in ("../other", "..", f"{tmp_path}/other", "other.parquet", "a/b", "", "nothing", "%2e%2e", "x" * 65):
        with pytest.raises(StoreError, match=r"There is no saved probe .* run the text again"):
            saved_probes.read(wrong)


def stored(place: str) -> list[str]:
    """The names of the saved probes in a place."""
    return sorted(path.name for path in Path(place).glob("*.parquet"))


def test_the_same_probe_saved_again_is_the_same_file(place: str, examples: Path) -> None:
    """Saved again and again, one probe of 425 words wrote 5 MB each time."""
    made = example()
    probe_id = text_probe.save(made)
    again = replace(made, provenance=replace(made.provenance, seconds=9.0, created="2026-11-25T12:00:00Z"))
    assert {text_probe.save(one) for one in (made, made, again)} == {probe_id}
    assert stored(place) == [f"{probe_id}.parquet"]
    others = {
        text_probe.save(replace(made, layer=made.layer + 1)),
        text_probe.save(replace(made, freeze="half")),
        text_probe.save(replace(made, provenance=replace(made.provenance, text="another"))),
        text_probe.save(replace(made, provenance=replace(made.provenance, text_pair="another"))),
        text_probe.save(replace(made, provenance=replace(made.provenance, model="another"))),
        text_probe.save(replace(made, provenance=replace(made.provenance, revision="another"))),
        text_probe.save(made, "a title"),
    }
    assert len(others | {probe_id}) == 8
    assert len(stored(place)) == 8


def test_who_guesses_a_text_cannot_compute_its_id(place: str, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An id is computed with a key that lies with the probes, and each place has one of its own."""
    made = example()
    probe_id = text_probe.save(made)
    monkeypatch.setenv("ADDEND_PROBES", f"{place}-elsewhere")
    assert text_probe.save(made) != probe_id
    with pytest.raises(StoreError, match="There is no saved probe"):
        saved_probes.read(saved_probes.KEY)


def test_all_saved_probes_have_a_bound(place: str, examples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_probes, "MB", 10_000)
    monkeypatch.setenv("ADDEND_PROBES_MB", "30")
    made, ids = example(), list[str]()
    with pytest.raises(StoreError, match=r"at most 30 MB are kept \(ADDEND_PROBES_MB\).*Copy the link"):
        ids.extend(text_probe.save(made, f"title {number}") for number in range(100))
    assert 1 <= len(ids) < 100
    assert stored(place) == sorted(f"{probe_id}.parquet" for probe_id in ids)
    assert text_probe.save(made, "title 0") == ids[0], "what is stored is found in a full place, too"
    monkeypatch.setenv("ADDEND_PROBES_MB", "0")
    assert text_probe.save(made, "without a bound") not in ids


def test_a_results_file_of_another_kind_is_no_probe(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_PROBES", str(ROOT / "data/results/costs"))
    name = min((ROOT / "data/results/costs").glob("*.parquet")).stem
    with pytest.raises(StoreError, match=r"of kind 'costs', is not a saved probe"):
        saved_probes.read(name)


def test_a_hosted_server_saves_them_nowhere_but_in_a_place_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_HOSTED", "1")
    settings.check()
    monkeypatch.setenv("ADDEND_SAVE_PROBES", "1")
    monkeypatch.delenv("ADDEND_PROBES", raising=False)
    with pytest.raises(SettingError, match=r"ADDEND_SAVE_PROBES is 1.*ADDEND_PROBES"):
        settings.check()
    monkeypatch.setenv("ADDEND_PROBES", "/srv/readers/probes")
    settings.check()
