"""Proves that attention against distance is what transformers' own patterns say, and that equivariance errors are those
of a permutation made by hand in float64: none for encoders without positions, some under a causal mask.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from command_line import run
from specimens import LONG, save_tiny
from transformers import AutoModel, AutoTokenizer, GPT2Config, GPT2Model

from analysis.ablation.encoder.config import AddendConfig
from analysis.ablation.encoder.model import AddendModel, draw_weights
from analysis.measurements.means.windows import FramedWindows
from analysis.measurements.order.equivariance import equivariance_error, permutations
from analysis.measurements.order.locality import locality
from analysis.measurements.order.measure import equivariance_rows, locality_rows
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.store import read

LENGTH, COUNT, LAYERS = 10, 4, 3


class Tokens:
    """All that is asked of a tokenizer."""

    cls_token_id = 1


def cut(vocabulary: int = 60, frame: bool = True) -> FramedWindows:
    """Windows of random words between [CLS] 1 and [SEP] 2."""
    ids = np.random.default_rng(0).integers(3, vocabulary, (COUNT, LENGTH))
    counted = np.ones(LENGTH, dtype=bool)
    if frame:
        ids[:, 0], ids[:, -1] = 1, 2
        counted[[0, -1]] = False
    return FramedWindows(ids, np.arange(COUNT), counted)


def loaded(model: Any) -> Loaded:
    source = Source(name="made up", revision="r", folder=Path(), config=model.config.to_dict())
    return Loaded(model=model.eval(), tokenizer=Tokens(), source=source, device="cpu")


def ours(**settings: Any) -> Loaded:
    config = AddendConfig(
        vocab_size=60, hidden_size=32, num_hidden_layers=LAYERS, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=16, **settings,
    )  # fmt: skip
    model = AddendModel(config)
    draw_weights(model, 0)
    with torch.no_grad():  # As drawn, attention is almost even and hardly anything moves.
        for weight in model.parameters():
            weight *= 4 if weight.ndim > 1 else 1
    return loaded(model)


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = save_tiny(tmp_path_factory.mktemp("order") / "model")
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    source = Source(name="tiny", revision="r", folder=folder, config=model.config.to_dict())
    return Loaded(model=model, tokenizer=AutoTokenizer.from_pretrained(folder), source=source, device="cpu")


def rows_of(rows: Any, **key: Any) -> list[dict[str, Any]]:
    return [row for row in rows if all(row.get(name) == value for name, value in key.items())]


# ---- Attention against distance ----


def test_distances_are_those_of_transformers_own_patterns(bert: Loaded) -> None:
    """One query, key and head at a time, from what the model itself gives out."""
    windows = cut(int(bert.model.config.vocab_size))
    windows.ids[:, 0] = bert.tokenizer.cls_token_id
    rows = list(locality_rows(bert, windows, range(0, COUNT, 8)))
    with torch.inference_mode():
        patterns = bert.model(input_ids=torch.from_numpy(windows.ids), output_attentions=True).attentions
    words = range(1, LENGTH - 1)
    for layer, pattern in enumerate(patterns):
        for head in range(pattern.shape[1]):
            for query, starts in (("cls", [0]), ("word", list(words))):
                means = []
                for window in pattern[:, head].double():
                    of_queries = []
                    for i in starts:
                        others = [j for j in words if j != i]
                        whole = sum(float(window[i, j]) for j in others)
                        of_queries.append(sum(float(window[i, j]) * abs(i - j) for j in others) / whole)
                    means.append(np.mean(of_queries))
                (row,) = rows_of(rows, layer=layer, head=head, query=query, measure="mean_distance")
                assert row["value"] == pytest.approx(np.mean(means), rel=1e-5)
                (own,) = rows_of(rows, layer=layer, head=head, query=query, measure="to_itself")
                itself = np.mean([[float(window[i, i]) for i in starts] for window in pattern[:, head]])
                assert own["value"] == pytest.approx(itself, rel=1e-5)
                assert own["even"] == pytest.approx(1 / LENGTH)


def test_even_attention_is_its_own_baseline() -> None:
    """And attention to the next word alone is at distance 1."""
    words = np.ones(LENGTH, bool)
    words[[0, -1]] = False
    seen = np.ones((LENGTH, LENGTH), bool)
    even = np.full((2, 3, LENGTH, LENGTH), 1 / LENGTH)
    for local in locality(even, seen, words, cls=True):
        np.testing.assert_allclose(local.at.mean((0, 1)), local.even)
        np.testing.assert_allclose(local.mean_distance, local.even_distance)
        assert local.even.sum() == pytest.approx(1)
    first = next(iter(locality(even, seen, words, cls=True)))
    assert first.even_distance == pytest.approx(np.mean(range(1, LENGTH - 1)))
    near = np.zeros_like(even)
    near[..., np.arange(LENGTH), np.minimum(np.arange(LENGTH) + 1, LENGTH - 1)] = 0.5
    near[..., -1] += 0.5  # What goes to a separator is left out.
    cls, word = locality(near, seen, words, cls=True)
    np.testing.assert_allclose(cls.mean_distance, 1)
    assert np.isnan(word.mean_distance).all(), "the last word attends to the separator alone"


def test_a_causal_model_has_words_alone() -> None:
    """[CLS] sees itself alone; even attention is that of the words before a word."""
    words = np.ones(LENGTH, bool)
    words[0] = False
    seen = np.tri(LENGTH, dtype=bool)
    pattern = (seen / seen.sum(-1, keepdims=True))[None, None]
    (local,) = locality(pattern, seen, words, cls=True)
    assert local.query == "word"
    np.testing.assert_allclose(local.mean_distance, local.even_distance)
    assert local.even_distance == pytest.approx(np.mean([np.mean(range(1, n + 1)) for n in range(1, LENGTH - 1)]))


# ---- Equivariance ----


def test_permutations_move_words_alone() -> None:
    words = np.arange(1, LENGTH - 1)
    orders = permutations(50, words, LENGTH, 0)
    assert (orders[:, 0] == 0).all()
    assert (orders[:, -1] == LENGTH - 1).all()
    assert (np.sort(orders, 1) == np.arange(LENGTH)).all()
    assert len({tuple(order) for order in orders}) == 50


def test_the_error_is_held_against_two_words() -> None:
    """States that have nothing to do with each other are as far apart as two words are."""
    rng = np.random.default_rng(0)
    states, others = rng.normal(size=(2, 30, LENGTH, 64))
    words = np.arange(1, LENGTH - 1)
    orders = permutations(30, words, LENGTH, 0)
    assert equivariance_error(states, others, orders, words, words).value == pytest.approx(1, rel=0.02)
    moved = np.take_along_axis(states, orders[..., None], 1)
    same = equivariance_error(states, moved, orders, words, words)
    assert (same.value, same.largest) == (0, 0)
    pairs = [
        ((states[w, i] - states[w, j]) ** 2).mean() for w in range(30) for i in words for j in words if i != j
    ]  # fmt: skip
    assert same.apart.mean() == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize(
    ("settings", "broken"),
    [
        ({}, False),
        ({"causal": True}, True),
        ({"position": "learned", "combine": "add"}, True),
        ({"rotary": True}, True),
        ({"alibi": True}, True),
    ],
    ids=["none", "mask", "added", "rotary", "alibi"],
)
def test_errors_are_those_of_a_permutation_by_hand(settings: dict[str, Any], broken: bool) -> None:
    """transformers' own hidden states in float64, permuted here; positions off leaves the mask alone to tell."""
    one, windows = ours(**settings), cut()
    found = list(equivariance_rows(one, windows, range(0, COUNT, 8)))
    assert one.model.dtype == torch.float32, "the model computes as before"
    model, words = one.model.double(), np.arange(1, LENGTH - 1)
    orders = permutations(COUNT, words, LENGTH, 0)
    with torch.inference_mode():
        first, second = (
            model(input_ids=torch.from_numpy(ids), output_hidden_states=True).hidden_states
            for ids in (windows.ids, np.take_along_axis(windows.ids, orders, 1))
        )
    for layer, (states, permuted) in enumerate(zip(first, second, strict=True)):
        gap = [
            float((permuted[w, i] - states[w, orders[w, i]]).pow(2).mean()) for w in range(COUNT) for i in words
        ]  # fmt: skip
        apart = [
            float((states[w, i] - states[w, j]).pow(2).mean())
            for w in range(COUNT) for i in words for j in words if i != j
        ]  # fmt: skip
        (row,) = rows_of(found, layer=layer, positions="as trained", tokens="moved")
        assert row["value"] == pytest.approx(np.sqrt(np.mean(gap) / np.mean(apart)), rel=1e-6, abs=1e-13)
        if layer:
            assert (row["value"] > 1e-3) == broken
            assert (row["low"] <= row["value"] <= row["high"]) or not broken
    off = rows_of(found, positions="off", tokens="moved")
    assert bool(off) == (settings not in ({}, {"causal": True})), "what has no positions has none to switch off"
    assert all(row["value"] < 1e-12 for row in off)


def test_after_one_causal_layer_the_last_token_is_blind_to_order_and_after_two_it_is_not() -> None:
    found = list(equivariance_rows(ours(causal=True), cut(), range(0, COUNT, 8)))
    last = [row["value"] for row in rows_of(found, tokens="last")]
    assert last[0] == 0
    assert last[1] < 1e-12
    assert last[2] > 1e-3
    moved = [row["value"] for row in rows_of(found, tokens="moved")]
    assert moved[1] > 1e-3, "a word that is moved sees other words before it"


def test_a_decoder_without_a_frame_has_words_alone() -> None:
    config = GPT2Config(vocab_size=60, n_positions=16, n_embd=32, n_layer=2, n_head=2)
    torch.manual_seed(0)
    one, windows = loaded(GPT2Model(config)), cut(frame=False)
    windows.counted[0] = False
    assert {row["query"] for row in locality_rows(one, windows, range(0, COUNT, 8))} == {"word"}
    found = list(equivariance_rows(one, windows, range(0, COUNT, 8)))
    assert {row["tokens"] for row in found} == {"moved"}
    assert {row["positions"] for row in found} == {"as trained", "off"}


# ---- The command ----


def test_it_is_measured_and_stored(monkeypatch: pytest.MonkeyPatch, data: Path, tmp_path: Path) -> None:
    text = tmp_path / "some text.txt"
    text.write_text("\n\n".join(LONG[start : start + 400] for start in range(0, 2000, 400)), encoding="utf-8")
    folder = str(save_tiny(tmp_path / "model"))
    options = ["--model", folder, "--texts", str(text), "--length", "12", "--windows", "10", "--called", "tiny"]
    assert run(monkeypatch, "measure-order", *options, "--name", "tiny") == 0
    rows = read.query("SELECT * FROM newest_locality")
    assert set(rows.model) == {"tiny"}
    assert set(rows["query"]) == {"cls", "word"}
    assert set(rows.windows) == {10}
    shares = rows[rows.measure == "attention"].groupby(["layer", "query"]).value.sum()
    np.testing.assert_allclose(shares, 1)
    errors = read.query("SELECT * FROM newest_equivariance ORDER BY layer")
    assert set(errors.dtype) == {"float64"}
    assert set(errors.positions) == {"as trained", "off"}
    assert errors.value[errors.positions == "off"].max() < 1e-12
    assert "python -m analysis measure order --model FOLDER --called tiny --texts TEXT" in set(errors.command).pop()
