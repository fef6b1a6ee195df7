"""Proves that many measurements side by side, or over Ray, store what the commands store one by one, each once."""

import shutil
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from specimens import LONG, save_tiny

from analysis import commands
from analysis.errors import AddendError, UnknownName
from analysis.measuring import Asked, planned

ROOT = Path(__file__).resolve().parents[2]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["analysis", *arguments])
    with pytest.raises(SystemExit) as ended:
        commands.main()
    return int(ended.value.code or 0)


@pytest.fixture(autouse=True)
def probe_set(data: Path) -> None:
    """The texts that terms are measured on."""
    (data / "probe_set").mkdir()
    for file in (ROOT / "data/probe_set").iterdir():
        shutil.copy2(file, data / "probe_set")


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join([LONG] * 4), encoding="utf-8")
    return str(path)


def test_many_models_side_by_side(monkeypatch, capsys, data: Path, tmp_path: Path, text: str) -> None:
    one, two = (str(save_tiny(tmp_path / name)) for name in ("one", "two"))
    asked = ["measure-models", f"first={one}", two, "--texts", text, "--tokens", "12", "--windows", "16"]
    asked += ["--what", "means,terms,geometry"]
    broken = str(tmp_path / "broken")
    assert run(monkeypatch, *asked, broken, "--jobs", "2") == 1
    said = capsys.readouterr()
    assert "0 of 9 runs are finished, 9 to go" in said.out
    assert "geometry of two is done" in said.out, said.err
    assert "terms of broken failed:" in said.err
    assert "geometry of broken failed: what it needs has failed" in said.err
    found = {path.relative_to(data / "results").as_posix() for path in (data / "results").rglob("*.parquet")}
    assert {f"{kind}/{name}.parquet" for kind in ("means", "terms", "geometry") for name in ("first", "two")} <= found
    assert not any("broken" in name for name in found)
    options = ["--model", one, "--called", "alone", "--name", "alone", "--tokens", "12"]
    assert run(monkeypatch, "measure", *options) == 0
    made, alone = (pq.read_table(data / "results" / "terms" / f"{name}.parquet") for name in ("first", "alone"))
    assert made.equals(alone)
    before = (data / "results/terms/first.parquet").stat().st_mtime_ns
    assert run(monkeypatch, *asked) == 0
    assert "6 of 6 runs are finished, 0 to go" in capsys.readouterr().out
    assert (data / "results/terms/first.parquet").stat().st_mtime_ns == before


def test_over_a_cluster(monkeypatch, capsys, data: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is optional; tests/requirements.txt brings it where it exists")
    models = [str(save_tiny(tmp_path / name)) for name in ("one", "two")]
    monkeypatch.setenv("ADDEND_DATA", str(data))
    assert run(monkeypatch, "measure-models", *models, "--tokens", "12", "--ray", "local") == 0
    assert {path.stem for path in (data / "results/terms").glob("*.parquet")} >= {"one", "two"}
    assert "terms of one is done" in capsys.readouterr().out


def test_what_cannot_be_planned_is_said(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="'colour'; known: terms, means, decoding, geometry"):
        planned(["a"], ["colour"], Asked(), device="cpu")
    with pytest.raises(AddendError, match="Two models would be called 'model'; tell them apart as NAME=FOLDER"):
        planned(["x/model", "y/model"], ["terms"], Asked(), device="cpu")
    with pytest.raises(AddendError, match="name one with --texts"):
        planned(["a"], ["means"], Asked(), device="cpu")
