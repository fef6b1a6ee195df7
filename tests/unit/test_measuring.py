"""Proves that many measurements side by side, or over Ray, store what the commands store one by one, each once."""

import csv
import multiprocessing
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pyarrow.parquet as pq
import pytest
from click.testing import Result
from specimens import LONG, save_tiny
from typer.testing import CliRunner

from analysis.commands import app
from analysis.commands.measure.plan import MeasurementOptions, plan_measurements
from analysis.core.errors import AddendError, UnknownName
from analysis.engine import local

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str) -> Result:
    """The command in this process, which has imported torch; its workers, if it has any, are processes all the same."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        said = CliRunner().invoke(app, arguments)
    assert said.exception is None or isinstance(said.exception, SystemExit), said.exception
    return said


@pytest.fixture(autouse=True)
def probe_set(data: Path) -> None:
    """The texts that terms are measured on: some of each file, every text as it is."""
    (data / "probe_set").mkdir()
    for path in (ROOT / "data/probe_set").glob("*.csv"):
        with (
            path.open(newline="", encoding="utf-8") as whole,
            (data / "probe_set" / path.name).open("w", newline="", encoding="utf-8") as part,
        ):
            csv.writer(part).writerows(islice(csv.reader(whole), 21))


@pytest.fixture
def text(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text("\n\n".join([LONG] * 4), encoding="utf-8")
    return str(path)


@pytest.fixture
def imported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that are forked from one process that has imported what they need, in place of one import for each."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["analysis.measurements.geometry", "sklearn", "transformers.models.bert.modeling_bert"]
    )
    monkeypatch.setattr(local, "multiprocessing", SimpleNamespace(get_context=lambda _: context))


def test_many_models_side_by_side(data: Path, tmp_path: Path, text: str, imported_once: None) -> None:
    one, two = (str(save_tiny(tmp_path / name)) for name in ("one", "two"))
    asked = ["measure-models", f"first={one}", two, "--texts", text, "--tokens", "12", "--windows", "16"]
    asked += ["--what", "means,terms,geometry"]
    broken = str(tmp_path / "broken")
    said = run(*asked, broken, "--jobs", "2")
    assert said.exit_code == 1
    assert "0 of 9 runs are finished, 9 to go" in said.stdout
    assert "geometry of two is done" in said.stdout, said.stderr
    assert "terms of broken failed:" in said.stderr
    assert "geometry of broken failed: what it needs has failed" in said.stderr
    found = {path.relative_to(data / "results").as_posix() for path in (data / "results").rglob("*.parquet")}
    kinds = ("means", "terms", "geometry")
    assert {f"{kind}/{name}.parquet" for kind in kinds for name in ("first", "two")} <= found
    assert not any("broken" in name for name in found)
    options = ["--model", one, "--called", "alone", "--name", "alone", "--tokens", "12"]
    assert run("measure", *options).exit_code == 0
    made, alone = (pq.read_table(data / "results" / "terms" / f"{name}.parquet") for name in ("first", "alone"))
    assert made.equals(alone)
    before = (data / "results/terms/first.parquet").stat().st_mtime_ns
    assert "6 of 6 runs are finished, 0 to go" in run(*asked).stdout
    assert (data / "results/terms/first.parquet").stat().st_mtime_ns == before


def test_over_a_cluster(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="Ray is optional; tests/requirements.txt brings it where it exists")
    """One model: that several workers share the work is proved of trainings, which are as slow to start."""
    said = run("measure-models", str(save_tiny(tmp_path / "one")), "--tokens", "12", "--ray", "local")
    assert said.exit_code == 0, said.stderr
    assert {path.stem for path in (data / "results/terms").glob("*.parquet")} >= {"one"}
    assert "terms of one is done" in said.stdout


def test_what_cannot_be_planned_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        UnknownName, match="'colour'; known: terms, means, decoding, order, pieces, positions, geometry"
    ):
        plan_measurements(["a"], ["colour"], MeasurementOptions(), device="cpu")
    with pytest.raises(AddendError, match="Two models would be called 'model'; tell them apart as NAME=FOLDER"):
        plan_measurements(["x/model", "y/model"], ["terms"], MeasurementOptions(), device="cpu")
    with pytest.raises(AddendError, match="name one with --texts"):
        plan_measurements(["a"], ["means"], MeasurementOptions(), device="cpu")
