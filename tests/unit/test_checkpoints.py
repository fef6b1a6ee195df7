"""The encoders that come with Addend open by name, are what their cards say, and give terms that add up."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open

from analysis import commands
from analysis.core.errors import AddendError, NoResults
from analysis.measurements.terms import decompose
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import checkpoints, files
from tests import trainings

ROOT = Path(__file__).resolve().parents[2]
MAX_BYTES = 24_000_000
NEEDED = {"bert_a", "sinusoidal", "no_position", "tupe_a", "tupe_a_tie_cls", "concat_20"}


@pytest.fixture(autouse=True)
def committed_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(ROOT / "data"))


def test_the_variants_that_the_claims_ask_about_are_there_and_small() -> None:
    assert {f"cpu-{variant}-0" for variant in NEEDED} <= set(checkpoints.names())
    every = (ROOT / "data" / checkpoints.FOLDER).rglob("*")
    assert sum(file.stat().st_size for file in every if file.is_file()) < MAX_BYTES


@pytest.mark.parametrize("name", sorted(f"cpu-{variant}-0" for variant in NEEDED))
def test_it_opens_by_name_and_is_what_its_card_says(name: str) -> None:
    loaded = load(resolve(name), device="cpu", head=True)
    assert loaded.source.name == name
    assert loaded.dtype == torch.float16
    variant = name.split("-")[1]
    folder: Any = checkpoints.folder(name)
    # The same variant and seed may have been trained at other settings too.
    stored = [files.read(path) for path in (ROOT / "data/results/curves").glob(f"{name}-*.parquet")]
    ((_, table, run),) = [one for one in stored if checkpoints.folder_of_run(one[2]["run_id"]) == folder]
    assert run["command"] == f"python -m analysis ablate --preset cpu --variants {variant} --seeds 0"
    card = (folder / "README.md").read_text(encoding="utf-8")
    (loss,) = (row["value"] for row in table.to_pylist() if row["metric"] == "final_loss_1x")
    for said in (variant, run["run_id"], run["git_sha"], f"{run['config']['parameters']:,}", f"{loss:.3f}", "CC BY-SA"):
        assert said in card
    assert json.loads((folder / "config.json").read_text())["variant"] == variant
    with safe_open(folder / "model.safetensors", framework="pt") as weights:
        held = sum(weights.get_tensor(key).numel() for key in weights.keys())  # noqa: SIM118
    assert held == run["config"]["parameters"]
    made = decompose(loaded.model, loaded.tokenizer, "The keys are on the table.", layer=1)
    assert made.relative_error < 1e-4


def test_a_run_that_the_store_does_not_hold_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from analysis.commands.keep_checkpoint import keep_checkpoint

    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))
    assert "keep_checkpoint" in commands.COMMANDS
    with pytest.raises(NoResults, match="'nothing'"):
        keep_checkpoint(tmp_path / "nothing", corpus="x", licence="y")


def test_a_checkpoint_of_another_run_is_not_overwritten(data: Path) -> None:
    """Two runs of one variant and seed at two norms would have one name."""
    from analysis.commands.keep_checkpoint import keep_checkpoint

    rows = trainings.line((0, 100), (8.0, 4.0), final=4.0)
    corpus = {"train_sha256": "0" * 64, "digest": "made up"}
    usual, other = (trainings.write("bert_a", 0, rows, corpus=corpus, norm=norm) for norm in ("post", "pre"))
    kept = data / "checkpoints" / "cpu-bert_a-0"
    kept.mkdir(parents=True)
    (kept / "README.md").write_text(f"- Run {usual}, made up\n", encoding="utf-8")
    with pytest.raises(AddendError, match="of another run of the same preset, variant and seed"):
        keep_checkpoint(data / other, corpus="x", licence="y")
    assert [path.name for path in kept.iterdir()] == ["README.md"]
    with pytest.raises(OSError, match="model"):
        keep_checkpoint(data / usual, corpus="x", licence="y")  # Its own, which has no model here.
