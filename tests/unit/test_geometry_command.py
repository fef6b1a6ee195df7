"""Proves that geometry is read from a model as the model has it, and that the command stores what was measured."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from command_line import run
from family_specimens import SPECIMENS, _addend
from specimens import LONG, save_tiny, tiny_tokenizer

from analysis.measurements.geometry import model as reading
from analysis.measurements.geometry.model import projections
from analysis.models.families import FAMILIES
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.models.trace_sources import trace_sources
from analysis.store import read
from analysis.streams.tensor import total

TEXTS = [LONG] * 4


def test_a_model_is_measured_and_stored(monkeypatch, capsys, data, tmp_path: Path) -> None:
    folder = str(save_tiny(tmp_path / "model"))
    text = tmp_path / "text.txt"
    text.write_text("\n\n".join(TEXTS), encoding="utf-8")
    means = ["--model", folder, "--texts", str(text), "--length", "12", "--windows", "16"]
    assert run(monkeypatch, "measure-means", *means, "--called", "tiny") == 0
    asked = ["measure-geometry", "--model", folder, "--called", "tiny", "--positions", "30", "--name", "tiny"]
    assert run(monkeypatch, *asked) == 0
    rows = read.query("SELECT * FROM newest_geometry")
    assert set(rows.model) == {"tiny"}
    assert {"singular_value", "word_kept", "collision_ratio", "relative_order"} <= set(rows.measure)
    assert read.query("SELECT count(*) AS n FROM newest_neighbours WHERE measure = 'nearest_word'").n[0] == 20
    assert rows.command[0] == "python -m analysis measure geometry --model FOLDER --called tiny --positions 30"
    assert folder not in rows.config[0]


def test_tables_are_the_models_own_rows(store, tmp_path: Path) -> None:
    loaded = load(resolve(str(save_tiny(tmp_path / "model"))), device="cpu")
    held = reading.read_vectors(loaded, TEXTS)
    tables = loaded.model.embeddings
    assert held.position is not None
    assert held.word is not None
    np.testing.assert_allclose(held.position, tables.position_embeddings.weight.detach().numpy(), atol=1e-7)
    ids = tiny_tokenizer().convert_tokens_to_ids(list(held.tokens))
    assert not set(ids) & set(tiny_tokenizer().all_special_ids)
    np.testing.assert_allclose(held.word, tables.word_embeddings.weight[ids].detach().numpy(), atol=1e-7)
    assert held.added
    assert held.word_position_range == (1, 39)
    assert held.states == [], "nothing is stored of its layers"
    short = reading.read_vectors(loaded, TEXTS, positions=12)
    assert short.position is not None
    assert len(short.position) == 12


def test_projections_of_the_inputs_are_the_queries_and_keys_of_transformers(store, tmp_path: Path) -> None:
    """Word and position parts through W_Q are what the model's own query module makes of them, less its bias."""
    loaded = load(resolve(str(save_tiny(tmp_path / "model"))), device="cpu")
    held = reading.read_vectors(loaded, TEXTS)
    assert [head.layer for head in held.heads] == [0]
    own = loaded.model.encoder.layer[0].attention.self
    head = held.heads[0]
    for weight, module in ((head.query, own.query), (head.key, own.key)):
        x = torch.as_tensor(head.word[:5], dtype=torch.float32)
        expected = (module(x) - module.bias).detach().numpy().reshape(5, 4, 8)
        np.testing.assert_allclose(np.einsum("nd,hdk->nhk", head.word[:5], weight), expected, atol=1e-4)


@pytest.mark.parametrize("name", ["bert", "albert", "addend", "addend no_cross", "addend tupe_a", "deberta"])
def test_what_a_layer_is_given_adds_up_to_its_hidden_states(name: str) -> None:
    """Also where the same weights project a table of positions in the same pass, and where layers share one module."""
    model = _addend("no_cross")() if name == "addend no_cross" else SPECIMENS[name].build()
    family = FAMILIES[model.config.model_type]
    tokens = torch.tensor([[2, 5, 6, 7, 8, 3], [2, 9, 8, 7, 5, 3]])
    entering: list[torch.Tensor] = []
    trace_sources(model, family, {"input_ids": tokens}, states=lambda _, hidden: entering.append(total(hidden)))
    attention = family.attentions(model)[1]
    reads = attention.in_proj if name == "deberta" else attention.query
    found = reading._inputs(model, family, 1, reads, tokens, None)
    torch.testing.assert_close(found.sum(0), entering[0], atol=1e-5, rtol=1e-4)


def test_projections_that_cannot_be_told_apart_are_none_and_gpt2s_are() -> None:
    assert projections(SimpleNamespace(), 4) is None
    weight = torch.arange(8.0 * 24).reshape(8, 24)
    found = projections(SimpleNamespace(c_attn=SimpleNamespace(weight=weight)), 4)
    assert found is not None
    torch.testing.assert_close(found[1].transpose(0, 1).flatten(1), weight[:, :8].double())
    torch.testing.assert_close(found[2].transpose(0, 1).flatten(1), weight[:, 8:16].double())
    grouped = SimpleNamespace(q_proj=torch.nn.Linear(8, 8), k_proj=torch.nn.Linear(8, 4))
    told = projections(grouped, 4)
    assert told is not None
    torch.testing.assert_close(told[2][0], told[2][1])
    torch.testing.assert_close(told[2][0], grouped.k_proj.weight.T[:, :2].detach().double())


def test_an_unknown_model_is_said(monkeypatch, capsys, data, tmp_path: Path) -> None:
    assert run(monkeypatch, "measure-geometry", "--model", str(tmp_path / "nowhere")) == 1
    assert "nowhere" in capsys.readouterr().err
