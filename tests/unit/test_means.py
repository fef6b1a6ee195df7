"""Proves that method mean is the two-way analysis of variance, and that a text's split passes through the model itself.

References: a least-squares fit on indicator columns, scipy's norms and entropy, the threshold that Gavish & Donoho
derived for white noise, transformers' own hidden states, and projections written out in NumPy.
"""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.stats
import torch
from family_specimens import SPECIMENS, ids
from specimens import LONG, PAIR, TEXT, save_tiny, tiny_bert, tiny_tokenizer

from analysis import store_build
from analysis.core.errors import NoResults, TextError, TextTooLong, UnknownName
from analysis.core.term_names import MEAN_SOURCES, terms_among
from analysis.measurements.means.measure import measure_means
from analysis.measurements.means.rank import _threshold, effective_rank, rank_estimate, stable_rank
from analysis.measurements.means.split import Basis, Sums, split
from analysis.measurements.means.states import hidden_states
from analysis.measurements.means.stored_bases import StoredBasis, stored_basis
from analysis.measurements.means.windows import FramedWindows, articles, windows
from analysis.measurements.terms import decompose
from analysis.models.families import FAMILIES
from analysis.models.load import load
from analysis.models.source import resolve
from analysis.store import files

COUNTED = np.array([False, True, True, True, True, True, False])


@pytest.fixture
def hidden() -> np.ndarray:
    rng = np.random.default_rng(1)
    slots, contexts = rng.normal(size=(7, 5)), rng.normal(size=(9, 1, 5))
    return 3 + slots + contexts + rng.normal(size=(9, 7, 5))


def summed(hidden: np.ndarray, counted: np.ndarray = COUNTED, batch: int = 4) -> Sums:
    sums = Sums(counted, hidden.shape[-1])
    for start in range(0, len(hidden), batch):
        sums.add(hidden[start : start + batch])
    return sums


def fitted(hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """mu, pos, ctx and residual by least squares on indicator columns, their coefficients centred after."""
    windows, slots, dim = hidden.shape
    design = np.hstack([np.kron(np.ones((windows, 1)), np.eye(slots)), np.kron(np.eye(windows), np.ones((slots, 1)))])
    flat = hidden.reshape(-1, dim)
    weights = np.linalg.lstsq(design, flat, rcond=None)[0]
    pos, ctx = weights[:slots], weights[slots:]
    mean = pos.mean(0) + ctx.mean(0)
    return mean, pos - pos.mean(0), ctx - ctx.mean(0), (flat - design @ weights).reshape(hidden.shape)


def test_the_parts_are_those_of_a_two_way_analysis_of_variance(hidden: np.ndarray) -> None:
    kept = hidden[:, COUNTED]
    mean, pos, ctx, residual = fitted(kept)
    basis = summed(hidden).basis()
    np.testing.assert_allclose(basis.mean, mean, atol=1e-12)
    np.testing.assert_allclose(basis.position[COUNTED], pos, atol=1e-12)
    for window in range(len(hidden)):
        parts = dict(zip(MEAN_SOURCES, split(hidden[window], basis, COUNTED), strict=True))
        np.testing.assert_allclose(parts["context"][3], ctx[window], atol=1e-12)
        np.testing.assert_allclose(parts["residual"][COUNTED], residual[window], atol=1e-12)
        np.testing.assert_allclose(sum(parts.values()), hidden[window], atol=1e-12)


def test_shares_are_the_parts_sums_of_squares(hidden: np.ndarray) -> None:
    kept = hidden[:, COUNTED]
    mean, pos, ctx, residual = fitted(kept)
    windows, slots, _ = kept.shape
    total = (kept**2).sum()
    shares = summed(hidden).shares()
    assert shares["mean"] == pytest.approx(windows * slots * (mean**2).sum() / total)
    assert shares["position"] == pytest.approx(windows * (pos**2).sum() / total)
    assert shares["context"] == pytest.approx(slots * (ctx**2).sum() / total)
    assert shares["residual"] == pytest.approx((residual**2).sum() / total)


def test_noise_is_what_slots_that_are_all_alike_seem_to_hold() -> None:
    rng = np.random.default_rng(0)
    found = [summed(rng.normal(size=(12, 7, 5))).shares() for _ in range(400)]
    assert np.mean([s["position"] for s in found]) == pytest.approx(np.mean([s["noise"] for s in found]), rel=0.05)


def test_relative_norm_is_that_of_the_matrices_written_out(hidden: np.ndarray) -> None:
    kept = hidden[:, COUNTED]
    pos = fitted(kept)[1]
    rows = kept.reshape(-1, kept.shape[-1])
    expected = scipy.linalg.norm(np.tile(pos, (len(kept), 1)), 2) / scipy.linalg.norm(rows - rows.mean(0), 2)
    assert summed(hidden).relative_norm() == pytest.approx(expected)


def test_batches_change_nothing(hidden: np.ndarray) -> None:
    one, many = summed(hidden, batch=9), summed(hidden, batch=2)
    np.testing.assert_allclose(one.basis().position, many.basis().position, atol=1e-12)
    assert one.shares() == pytest.approx(many.shares())


@pytest.mark.parametrize("rank", [0, 1, 4, 11])
def test_a_planted_basis_is_found_with_its_rank(rank: int) -> None:
    rng = np.random.default_rng(rank)
    slots, dim, count = 90, 120, 60
    planted = rng.normal(size=(slots, rank)) @ rng.normal(size=(rank, dim)) if rank else np.zeros((slots, dim))
    planted -= planted.mean(0)
    hidden = planted + rng.normal(size=(count, 1, dim)) + rng.normal(size=(count, slots, dim))
    counted = np.ones(slots, dtype=bool)
    basis = summed(hidden, counted, batch=20).basis()
    assert rank_estimate(basis.position) == rank
    # What is left is the mean of `count` draws of noise of size 1.
    assert np.std(basis.position - planted) == pytest.approx(count**-0.5, rel=0.05)


@pytest.mark.parametrize("ratio", [0.25, 0.5, 1.0])
def test_of_white_noise_the_threshold_is_the_one_derived_for_it(ratio: float) -> None:
    """Gavish & Donoho 2014, equation 11: known noise level."""
    columns = 1200
    rows = round(ratio * columns)
    noise = np.random.default_rng(2).normal(size=(rows, columns)) / np.sqrt(columns)
    values = np.linalg.svd(noise, compute_uv=False)
    expected = np.sqrt(2 * (ratio + 1) + 8 * ratio / (ratio + 1 + np.sqrt(ratio**2 + 14 * ratio + 1)))
    assert _threshold(values, 20, ratio) == pytest.approx(expected, rel=0.02)


def test_ranks_are_scipys() -> None:
    matrix = np.random.default_rng(4).normal(size=(30, 12)) * np.geomspace(1, 0.01, 12)
    values = scipy.linalg.svdvals(matrix)
    assert stable_rank(matrix) == pytest.approx(scipy.linalg.norm(matrix) ** 2 / scipy.linalg.norm(matrix, 2) ** 2)
    assert effective_rank(matrix) == pytest.approx(np.exp(scipy.stats.entropy(values)))
    assert stable_rank(np.eye(5)) == pytest.approx(5)
    assert effective_rank(np.eye(5)) == pytest.approx(5)
    assert np.isnan(stable_rank(np.zeros((4, 3))))
    assert np.isnan(effective_rank(np.zeros((4, 3))))


def test_too_few_singular_values_for_an_estimate_are_refused() -> None:
    with pytest.raises(ValueError, match="too few"):
        rank_estimate(np.eye(41))


# Windows

TEXTS = ["the cat sat on the mat . " * 6, "a dog ran . " * 9, "never"]


def test_windows_are_framed_and_do_not_overlap() -> None:
    tokenizer = tiny_tokenizer()
    cut = windows(tokenizer, TEXTS, 10, 6)
    assert cut.ids.shape == (6, 10)
    assert set(cut.ids[:, 0]) == {tokenizer.cls_token_id}
    assert set(cut.ids[:, -1]) == {tokenizer.sep_token_id}
    assert not set(cut.ids[:, 1:-1].ravel()) & set(tokenizer.all_special_ids)
    assert cut.counted.tolist() == [False, *[True] * 8, False]
    # 42 and 36 tokens: each text gives one of the first two, and none gives more than it holds.
    assert sorted(cut.article[:2]) == [0, 1]
    assert (cut.article == 0).sum() <= 5
    assert (cut.article == 1).sum() <= 4


def test_no_window_stands_in_a_text_twice() -> None:
    """Of a text in which every token is another, all windows are different tokens."""
    tokenizer = tiny_tokenizer()
    text = "the a cat dog mat sat ran on . , ! and not never saw hill"
    passages = windows(tokenizer, [text], 6, 4).ids[:, 1:-1]
    assert len(set(passages.ravel())) == passages.size


def test_too_little_text_and_too_long_windows_are_said() -> None:
    tokenizer = tiny_tokenizer()
    with pytest.raises(TextError, match=r"hold 9 windows of 10 tokens, but 50 were asked for"):
        windows(tokenizer, TEXTS, 10, 50)
    with pytest.raises(TextTooLong, match="99 tokens were asked for, but the model has 40 positions"):
        windows(tokenizer, TEXTS, 99, 2, limit=40)
    with pytest.raises(TextError, match="no room"):
        windows(tokenizer, TEXTS, 3, 2)


def test_articles_are_apart_by_empty_lines(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("\n\nA title\none\n\n \nB\ntwo", encoding="utf-8")
    assert list(articles(path)) == ["A title\none", "B\ntwo"]
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TextError, match="not UTF-8"):
        list(articles(path))
    with pytest.raises(TextError, match="No such file"):
        list(articles(tmp_path / "none"))


# Through a model


@pytest.mark.parametrize("name", [name for name in SPECIMENS if SPECIMENS[name].inputs is None])
def test_hidden_states_are_transformers_own(name: str) -> None:
    model = SPECIMENS[name].build()
    tokens = ids(model)["input_ids"][:1]
    found = hidden_states(model, FAMILIES[name.split()[0]], tokens)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    with torch.no_grad():
        told = model(input_ids=tokens, output_hidden_states=True).hidden_states
    assert len(found) == len(told)
    for ours, theirs in zip(found[:-1], told[:-1], strict=True):
        torch.testing.assert_close(ours, theirs)
    # transformers' last entry is what follows the last layer: a norm, or OPT's projection out.
    assert found[-1].shape[:2] == told[-1].shape[:2]


def made_up(model: Any, slots: int = 40) -> StoredBasis:
    rng = np.random.default_rng(5)
    width = model.config.hidden_size
    basis = Basis(rng.normal(size=width).astype(np.float32), rng.normal(size=(slots, width)).astype(np.float32))
    return StoredBasis(basis, "made up", 3, float("nan"))


@pytest.mark.parametrize("layer", [0, 1])
@pytest.mark.parametrize("texts", [(TEXT, None), PAIR], ids=["one text", "pair"])
def test_the_terms_of_mean_are_the_models_own_scores(layer: int, texts: tuple[str, str | None]) -> None:
    model, tokenizer = tiny_bert(), tiny_tokenizer()
    stored = made_up(model)
    made = decompose(model, tokenizer, *texts, layer=layer, method="mean", basis=stored)
    eager = copy.deepcopy(model)
    eager.set_attn_implementation("eager")
    inputs = tokenizer(*texts, return_tensors="pt")
    with torch.no_grad():
        told = eager(**inputs, output_hidden_states=True, output_attentions=True)
    attention = eager.encoder.layer[layer].attention.self
    hidden = told.hidden_states[layer][0].double().numpy()
    query, key = (
        (hidden @ linear.weight.double().detach().numpy().T + linear.bias.double().detach().numpy())
        .reshape(len(hidden), 4, 8)
        .swapaxes(0, 1)
        for linear in (attention.query, attention.key)
    )
    scores = query @ key.swapaxes(1, 2) / np.sqrt(8)
    np.testing.assert_allclose(made.total(), scores, atol=1e-5 * np.ptp(scores))
    np.testing.assert_allclose(made.pattern, told.attentions[layer][0], atol=1e-5)
    assert made.method == "mean"
    assert made.sources == MEAN_SOURCES
    assert tuple(made.terms) == made.names == terms_among(MEAN_SOURCES)
    assert sum(made.shares().values()) == pytest.approx(np.ones(4), abs=1e-4)
    # Position alone, by the projection written out; the bias of the projection is the mean's.
    position = stored.basis.position[: len(hidden)] @ attention.query.weight.detach().numpy().T
    np.testing.assert_allclose(made.query[1], position.reshape(len(hidden), 4, 8).swapaxes(0, 1), atol=1e-4)
    mean = stored.basis.mean @ attention.key.weight.detach().numpy().T + attention.key.bias.detach().numpy()
    np.testing.assert_allclose(made.key[3][:, 0], mean.reshape(4, 8), atol=1e-4)


def test_behind_a_norm_too_the_terms_of_mean_add_up() -> None:
    """Pre-norm, and scores that get a bias besides."""
    model = SPECIMENS["addend concat_blocked, pre-norm"].build()
    made = decompose(model, tiny_tokenizer(), TEXT, layer=1, method="mean", basis=made_up(model))
    assert made.relative_error < 1e-5
    assert made.pattern_error < 1e-4


def test_frozen_is_left_as_it_was() -> None:
    model, tokenizer = tiny_bert(), tiny_tokenizer()
    plain = decompose(model, tokenizer, TEXT)
    given = decompose(model, tokenizer, TEXT, basis=made_up(model))
    assert given.method == plain.method == "exact"
    assert np.array_equal(given.query, plain.query)


def test_what_mean_cannot_split_is_said(store: Path) -> None:
    model, tokenizer = tiny_bert(), tiny_tokenizer()
    with pytest.raises(TextTooLong, match="measured over windows of 8"):
        decompose(model, tokenizer, TEXT, method="mean", basis=made_up(model, slots=8))
    with pytest.raises(NoResults, match="measure means"):
        decompose(model, tokenizer, TEXT, method="mean")
    with pytest.raises(UnknownName, match="known: frozen, mean"):
        decompose(model, tokenizer, TEXT, method="median")


@pytest.fixture
def measured(data: Path, tmp_path: Path) -> tuple[Any, FramedWindows]:
    """A tiny model measured over windows of a text, its results in a store of the test's own."""
    folder = save_tiny(tmp_path / "model")
    loaded = load(resolve(str(folder)), device="cpu")
    cut = windows(loaded.tokenizer, [LONG, LONG[:200]], 12, 20)
    measure_means(loaded, cut, "made up", called="tiny", name="tiny")
    store_build.refresh()
    return loaded, cut


def test_what_is_stored_is_the_mean_of_the_models_own_hidden_states(measured: tuple[Any, FramedWindows]) -> None:
    loaded, cut = measured
    with torch.no_grad():
        told = loaded.model(input_ids=torch.from_numpy(cut.ids), output_hidden_states=True).hidden_states
    for layer, hidden in enumerate(told):
        stored = stored_basis("tiny", loaded.source.revision, layer)
        means = hidden.double().numpy().mean(0)
        np.testing.assert_allclose(stored.basis.mean + stored.basis.position, means, atol=2e-3)
        np.testing.assert_allclose(stored.basis.mean, means[cut.counted].mean(0), rtol=5e-4, atol=1e-6)
    made = decompose(
        loaded.model,
        loaded.tokenizer,
        "the cat sat",
        method="mean",
        basis=stored_basis("", loaded.source.revision, 1),
        layer=1,
    )
    assert made.reference == "made up, 20 windows of 12 tokens"


def test_the_gap_to_frozen_is_that_of_the_embeddings_written_out(measured: tuple[Any, FramedWindows]) -> None:
    loaded, cut = measured
    tables, config = loaded.model.embeddings, loaded.model.config
    word, position, segment, gain, shift = (
        x.detach().double().numpy()
        for x in (
            tables.word_embeddings.weight, tables.position_embeddings.weight, tables.token_type_embeddings.weight,
            tables.LayerNorm.weight, tables.LayerNorm.bias,
        )
    )  # fmt: skip
    rows = position[: cut.ids.shape[1]]
    whole = word[cut.ids] + rows + segment[0]
    sigma = np.sqrt(whole.var(-1, keepdims=True) + config.layer_norm_eps)
    alone = (gain * (rows - rows.mean(-1, keepdims=True)) / sigma).mean(0)[cut.counted]
    mean = (gain * (whole - whole.mean(-1, keepdims=True)) / sigma + shift).mean(0)[cut.counted]
    alone, mean = alone - alone.mean(0), mean - mean.mean(0)
    expected = np.linalg.norm(mean - alone) / np.linalg.norm(alone)
    assert stored_basis("", loaded.source.revision, 0).frozen_gap == pytest.approx(expected, rel=1e-4)
    assert np.isnan(stored_basis("", loaded.source.revision, 1).frozen_gap)


def test_the_committed_basis_says_what_it_is_of(store: Path) -> None:
    from analysis.core import default_model

    _, table, run = files.read(next(Path("data/results/means").glob("all-MiniLM-L6-v2-*.parquet")))
    assert run["revision"] == default_model.REVISION
    assert run["config"]["left_out"] == [0, 127]
    assert table.num_rows == 7
    rows = table.to_pylist()
    for row in rows:
        parts = ("mean_share", "position_share", "context_share", "residual_share")
        assert sum(row[part] for part in parts) == pytest.approx(1)
        assert row["stable_rank"] <= row["effective_rank"]
    # Song & Zhong 2023: low rank at every layer.
    assert all(row["rank"] < 20 for row in rows)
