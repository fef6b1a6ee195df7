"""Proves that the position map's figures say what was measured, and that the command fails where a model strays."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from family_specimens import GROUPED, _tiny as tiny
from safetensors.torch import load_file, save_file
from specimens import TEXT, tiny_tokenizer
from typer.testing import CliRunner

from analysis.commands import app
from analysis.core.errors import LinkError, ModelError, NoResults
from analysis.figures import FIGURES, drawing
from analysis.links import VIEWS
from analysis.measurements.positions import stored_maps
from analysis.measurements.positions.measure import bands_of
from analysis.measurements.positions.without_rotation import layer_rotation, paired_calls
from analysis.measurements.terms.run import encode
from analysis.probes.position_probe import BASELINES, PositionRequest
from analysis.store import checkpoints, read

VALUES = VIEWS["positions"].defaults() | {"text": TEXT}


def saved(folder: Path, **changes: Any) -> str:
    tiny("Llama", head_dim=8, **GROUPED, **changes)().save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return str(folder)


@pytest.mark.usefixtures("store")
def test_a_map_names_the_layers_that_use_position_most_and_least(tmp_path: Path) -> None:
    values = VALUES | {"model": saved(tmp_path / "llama"), "baseline": "random"}
    figure = FIGURES["position_map"].make(values)
    frame = figure.frame()
    assert set(frame.of) == {values["model"], BASELINES["random"]}
    mine = frame[frame.of == values["model"]]
    np.testing.assert_allclose(mine.groupby("layer").share.sum(), 1, atol=1e-4)
    by_position = mine[mine.part != "content"].groupby("layer").share.sum()
    assert figure.finding.startswith(f"At layer {by_position.idxmax()}, {100 * by_position.max():.0f} % of the scores'")
    assert figure.finding.endswith(f"at layer {by_position.idxmin()}, {100 * by_position.min():.0f} %")
    assert "random weights (seed 0)" in figure.caption
    assert len(drawing.panels(figure)) == 4
    assert figure.command.startswith("python -m analysis positions ")


def test_a_baseline_is_another_model_or_another_order(tmp_path: Path) -> None:
    request = PositionRequest.of(VALUES | {"model": saved(tmp_path / "llama")})
    loaded = request.load()
    own = request.run(loaded)
    for baseline in BASELINES:
        other = PositionRequest.of(VALUES | {"model": request.model, "baseline": baseline}).run(loaded)
        assert np.abs(other.shares() - own.shares()).max() > 1e-3, baseline
    np.testing.assert_array_equal(own.shares(), request.run(loaded).shares())
    with pytest.raises(LinkError, match="baseline='nothing'; expected one of: random, shuffled, or nothing"):
        PositionRequest.of(VALUES | {"baseline": "nothing"})


@pytest.mark.usefixtures("store")
def test_kernels_are_of_the_head_that_a_link_names(tmp_path: Path) -> None:
    values = VALUES | {"model": saved(tmp_path / "llama"), "layer": 1, "head": 2}
    figure = FIGURES["position_kernels"].make(values)
    frame = figure.frame()
    assert frame.distance.max() == 0, "a causal model looks back alone"
    np.testing.assert_allclose(frame.groupby("band").score.mean(), 0, atol=1e-5)
    assert figure.finding.startswith("Head 2 of layer 1")
    assert len(drawing.panels(figure)) == 1
    with pytest.raises(LinkError, match="layer=7; this model has layers 0 to 2"):
        FIGURES["position_kernels"].make(values | {"layer": 7})


@pytest.mark.usefixtures("store")
def test_a_model_that_adds_positions_has_a_map_and_no_kernels() -> None:
    figure = FIGURES["position_map"].make(VALUES)
    assert "most by added positions" in figure.finding
    assert "Positions are not rotated but added" in figure.caption
    with pytest.raises(NoResults, match="does not rotate queries and keys"):
        FIGURES["position_kernels"].make(VALUES)


def run(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["positions", *arguments])
    return done.exit_code, done.stdout


def test_the_command_says_that_a_model_does_what_its_config_says(tmp_path: Path) -> None:
    model = saved(tmp_path / "llama")
    code, text = run(model, "--text", TEXT)
    assert code == 0
    assert "It rotates as its config says." in text
    code, text = run(model, "--text", TEXT, "--json")
    entries = json.loads(text)
    assert entries["differences"] == []
    assert entries["checked_against"] == "its config"
    total = sum(np.asarray(entries["shares"][part], float).sum(-1) for part in ("content", "position", "both"))
    np.testing.assert_allclose(total, 1, atol=1e-4)


def test_two_exports_that_turn_otherwise_end_with_exit_code_1(tmp_path: Path) -> None:
    """The same weights, and another base in one config: what a conversion that drops a setting leaves behind."""
    one = saved(tmp_path / "one")
    other = saved(tmp_path / "other", rope_parameters={"rope_type": "default", "rope_theta": 1e6})
    save_file(load_file(Path(one) / "model.safetensors"), Path(other) / "model.safetensors", {"format": "pt"})
    code, text = run(one, "--text", TEXT, "--against", other)
    assert code == 1
    assert "DIFFERENT at layer 0, wavelengths 128 to 512 tokens: a wavelength of 62.8 tokens" in text
    assert run(one, "--text", TEXT, "--against", one)[0] == 0


def test_what_is_lost_unturned_is_named_by_its_band(tmp_path: Path) -> None:
    figure = FIGURES["position_unturned"].make(VALUES | {"model": saved(tmp_path / "llama")})
    frame = figure.frame()
    top = frame[frame.band != "all of them"].sort_values("outcome").iloc[-1]
    assert figure.finding.startswith(
        f"The model loses most without the rotation at wavelengths {top.band} tokens in layer {top.layer}: "
    )
    assert len(frame[frame.band == "all of them"]) == 3
    assert len(drawing.panels(figure)) == 1


def test_a_stored_map_is_read_back_as_it_was_measured(data: Path, tmp_path: Path) -> None:
    """Stored and read, a map gives the same figures as the run itself, and its command is the one that stores it."""
    texts = data / "probe_set" / "sentences.csv"
    texts.parent.mkdir()
    texts.write_text(f'id,category,text\ns235,tiny,"{TEXT}"\n', encoding="utf-8")
    folder = saved(tmp_path / "llama")
    done = CliRunner().invoke(app, ["measure-positions", "--model", folder, "--called", "tiny", "--name", "tiny"])
    assert done.exit_code == 0, done.output
    made = PositionRequest.of(VALUES | {"model": folder}).run()
    kept = stored_maps.stored_map("tiny", TEXT)
    assert kept is not None
    for name in ("numerators", "power", "kernels", "joined", "joined_scores", "errors"):
        np.testing.assert_allclose(getattr(kept, name), getattr(made, name), rtol=1e-5, atol=1e-6, err_msg=name)
    for name in ("sources", "labels", "rotations", "kind", "looks_ahead", "sinks", "capped"):
        assert getattr(kept, name) == getattr(made, name), name
    assert stored_maps.stored_models() == {"tiny": (kept.provenance.revision, TEXT)}
    assert stored_maps.stored_map("tiny", "another text") is None
    assert stored_maps.stored_map("tiny", TEXT, revision="another") is None
    figure = FIGURES["position_map"].make(VALUES | {"model": "tiny"})
    assert (
        figure.command
        == "python -m analysis measure positions --model FOLDER --called tiny --corpus probe_set --text-id s235"
    )
    with pytest.raises(ModelError, match="holds the map of tiny on one text only"):
        FIGURES["position_map"].make(VALUES | {"model": "tiny", "text": "another text"})
    assert "has no text 'x'" in str(CliRunner().invoke(app, ["measure-positions", "--text-id", "x"]).exception)


def test_every_committed_map_is_exact_and_on_the_page_s_text(store: Path) -> None:
    """At every layer within 1e-4 of the scores' range; a fresh visit to the page shows the embedded model's."""
    text = read.query("SELECT text FROM corpora WHERE text_id = ?", [stored_maps.TEXT_ID]).text[0]
    assert VIEWS["positions"].defaults()["text"] == text
    models = stored_maps.stored_models()
    assert {"all-MiniLM-L6-v2", *checkpoints.names()} <= set(models)
    for model in models:
        made = stored_maps.stored_map(model, text)
        assert made is not None
        assert made.errors.max() < 1e-4, model
        np.testing.assert_allclose(made.shares().sum((1, 2)), 1, atol=1e-3, err_msg=model)
        for name in ("position_map", "position_cell"):
            assert drawing.panels(FIGURES[name].make(VALUES | {"model": model, "text": text}))
    finding = FIGURES["position_map"].make(VALUES | {"model": "cpu-no_position-0", "text": text}).finding
    assert finding == "No layer's scores depend on position"


@pytest.mark.usefixtures("store")
def test_a_cell_shows_the_scores_of_its_band(tmp_path: Path) -> None:
    """Held against the band's scores made from the model's own queries and keys in float64."""
    folder = saved(tmp_path / "llama")
    values = VALUES | {"model": folder, "layer": 1, "band": 2}
    figure = FIGURES["position_cell"].make(values)
    loaded = PositionRequest.of(values).load()
    inputs = encode(loaded.tokenizer, TEXT, None, loaded.model, False)[0]
    asked = paired_calls(loaded.model, None, inputs)[1]
    assert asked is not None
    assert asked.unturned is not None
    rotation = layer_rotation(asked)
    band = bands_of(rotation)[2]
    tokens = asked.call.scores.shape[-1]
    q, k = (
        x[0].double().numpy()[..., rotation.pairs[band].numpy()] @ np.array([1, 1j])
        for x in (asked.unturned.query, asked.unturned.key)
    )
    turn = np.exp(
        -1j * rotation.frequency[band].numpy() * (np.arange(tokens)[None] - np.arange(tokens)[:, None])[..., None]
    )
    scores = np.einsum("hqp,hkp,qkp->hqk", q, k.conj(), turn).real * asked.call.scale
    seen = np.tril(np.ones((tokens, tokens), bool))
    centred = np.where(seen, scores - np.where(seen, scores, 0).sum(-1, keepdims=True) / seen.sum(-1)[:, None], -np.inf)
    head, query, key = np.unravel_index(centred.argmax(), centred.shape)
    frame = figure.frame()
    first = frame[frame.what == "joined"].iloc[0]
    assert (first["head"], first["query"], first.key) == (head, query, key)
    assert first.value == pytest.approx(centred.max(), abs=1e-4)
    kernel = frame[(frame.what == "kernel") & (frame["head"] == 2)]
    means = [
        scores_at(q[2], k[2], rotation.frequency[band].numpy(), away, seen) * asked.call.scale
        for away in kernel.distance
    ]
    np.testing.assert_allclose(kernel.value, np.array(means) - np.mean(means), atol=1e-5)
    with pytest.raises(LinkError, match="band=40; this map has columns 0 to 7"):
        FIGURES["position_cell"].make(values | {"band": 40})


def scores_at(q: np.ndarray, k: np.ndarray, frequency: np.ndarray, away: float, seen: np.ndarray) -> float:
    """The mean over queries and keys of what they would score at one distance."""
    return float(
        np.mean([(q[i] * k[j].conj() * np.exp(-1j * frequency * away)).real.sum() for i, j in np.argwhere(seen)])
    )
