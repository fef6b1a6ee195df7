"""Proves that the commands behind the page Depth do what they say, and that a probe by method mean can be kept."""

from pathlib import Path

import numpy as np
import pytest
from command_line import run
from specimens import LONG, save_tiny

from analysis import store_build
from analysis.probes import saved_probes, text_probe
from analysis.store import read


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "some text.txt"
    path.write_text("\n\n".join(LONG[start : start + 400] for start in range(0, 2000, 400)), encoding="utf-8")
    return path


def test_means_are_measured_and_a_probe_by_them_is_kept(monkeypatch, capsys, data, tmp_path, text) -> None:
    folder = str(save_tiny(tmp_path / "model"))
    options = ["--model", folder, "--texts", str(text), "--length", "12", "--windows", "16"]
    assert run(monkeypatch, "measure-means", *options, "--name", "tiny") == 0
    assert (data / "results/means/tiny.parquet").is_file()
    rows = read.query("SELECT * FROM newest_means ORDER BY layer")
    assert rows.layer.tolist() == [0, 1, 2]
    assert set(rows.corpus) == {"some text"}
    assert set(rows.windows) == {16}
    capsys.readouterr()
    asked = ["--model", folder, "--text", "the cat sat", "--layer", "1", "--method", "mean"]
    assert run(monkeypatch, "probe", *asked, "--save") == 0
    said = capsys.readouterr().out
    assert "position_to_residual" in said
    assert "Means of some text, 16 windows of 12 tokens" in said
    store_build.refresh()
    kept = saved_probes.read(read.query("SELECT probe_id FROM probes").probe_id[0])
    fresh = text_probe.TermsRequest(model=folder, text="the cat sat", layer=1, method="mean").run()
    assert kept.method == fresh.method == "mean"
    assert kept.reference == fresh.reference
    assert np.isnan(kept.frozen_gap)
    np.testing.assert_allclose(kept.terms["mean_to_position"], fresh.terms["mean_to_position"], atol=1e-6)
    assert "--method mean" in text_probe.command(kept)


def test_at_layer_0_the_gap_to_frozen_is_told_and_kept(monkeypatch, capsys, data, tmp_path, text) -> None:
    folder = str(save_tiny(tmp_path / "model"))
    options = ["--model", folder, "--texts", str(text), "--length", "12", "--windows", "16"]
    assert run(monkeypatch, "measure-means", *options) == 0
    gap = read.query("SELECT frozen_gap FROM newest_means WHERE layer = 0").frozen_gap[0]
    capsys.readouterr()
    assert run(monkeypatch, "probe", "--model", folder, "--text", "the cat", "--method", "mean", "--save") == 0
    assert f"positions {gap:.0%} away from frozen's" in capsys.readouterr().out
    store_build.refresh()
    kept = saved_probes.read(read.query("SELECT probe_id FROM probes").probe_id[0])
    assert kept.frozen_gap == pytest.approx(gap)


def test_decoding_runs_over_a_text(monkeypatch, data, tmp_path, text) -> None:
    folder = str(save_tiny(tmp_path / "model"))
    options = ["--model", folder, "--texts", str(text), "--length", "12", "--windows", "15", "--corpus", "mine"]
    assert run(monkeypatch, "decode", *options, "--called", "tiny", "--name", "tiny") == 0
    rows = read.query("SELECT * FROM newest_decoding")
    assert set(rows.model) == {"tiny"}
    assert set(rows.corpus) == {"mine"}
    assert {"position", "order", "word"} == set(rows.target)


@pytest.mark.parametrize("command", ["measure-means", "decode"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--length", "99"], "the model has 40 positions"),
        (["--length", "12", "--windows", "5000"], "5000 were asked for"),
        (["--length", "3"], "no room"),
    ],
)
def test_what_cannot_be_measured_is_said(monkeypatch, capsys, data, tmp_path, text, command, options, said) -> None:
    folder = str(save_tiny(tmp_path / "model"))
    assert run(monkeypatch, command, "--model", folder, "--texts", str(text), *options) == 1
    assert said in capsys.readouterr().err


def test_a_text_that_is_not_there_is_said(monkeypatch, capsys, data, tmp_path) -> None:
    assert run(monkeypatch, "decode", "--model", str(save_tiny(tmp_path / "m")), "--texts", "/nowhere") == 1
    assert "/nowhere cannot be read (No such file or directory)" in capsys.readouterr().err
