"""Proves that shares, effects, agreement and RMS are what their definitions say, with and without masks.

The definitions are written out here with sixteen float64 maps, loops over queries and scipy; the code
under test computes no centred term at all. Pooling over a corpus is repeated by hand.
"""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy.special import logsumexp, rel_entr, softmax
from scipy.stats import entropy
from specimens import PAIR, TEXT, tiny_bert, tiny_tokenizer

from analysis.core.errors import TextError
from analysis.measurements.terms import SOURCES, TERMS, decompose, measures
from analysis.measurements.terms.corpus import measure_corpus
from analysis.models.load import Loaded
from analysis.models.source import Source
from analysis.store import files

S, H, N, D, SCALE = 4, 3, 7, 5, 0.7


def made_up(seed: int = 0, tokens: int = N, size: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    shape = (S, H, tokens, D)
    return torch.tensor(rng.normal(size=shape) * size), torch.tensor(rng.normal(size=shape))


def grid(found: torch.Tensor) -> torch.Tensor:
    """By source and source, where the measures give one row per term."""
    return found.unflatten(0, (S, S))


def naive(
    query: torch.Tensor, key: torch.Tensor, scale: float, mask: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Every measure (source, source, head), query by query, from sixteen maps in float64."""
    q, k = query.double().numpy(), key.double().numpy()
    maps = np.einsum("ahid,bhjd->abhij", q, k) * scale
    sources, heads, length = q.shape[0], q.shape[1], q.shape[2]
    seen = np.ones((length, k.shape[2]), bool) if mask is None else mask
    part = np.zeros((sources, sources, heads))
    power = np.zeros(heads)
    kl, kept = (np.full((sources, sources, heads, length), np.nan) for _ in range(2))
    for i in range(length):
        if seen[i].sum() < 2:
            continue
        for h in range(heads):
            row = maps[:, :, h, i, seen[i]]
            total = row.sum((0, 1))
            pattern = softmax(total)
            centred = total - total.mean()
            power[h] += (centred**2).sum()
            part[:, :, h] += ((row - row.mean(-1, keepdims=True)) * centred).sum(-1)
            without = total - row
            kl[:, :, h, i] = entropy(np.broadcast_to(pattern, row.shape), softmax(without, -1), axis=-1)
            kept[:, :, h, i] = without.argmax(-1) == total.argmax()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean over no query
        return {
            "share": part / power,
            "part": part,
            "power": power,
            "effect": np.nanmean(kl, -1),
            "top1": np.nanmean(kept, -1),
            "rms": np.sqrt((maps**2).mean((-1, -2))),
        }


def assert_as_naive(query: torch.Tensor, key: torch.Tensor, mask: np.ndarray | None = None, tolerance: float = 1e-12):
    expected = naive(query, key, SCALE, mask)
    given = None if mask is None else torch.tensor(mask)
    effect, top1 = (grid(found) for found in measures.effects(query, key, SCALE, given))
    np.testing.assert_allclose(
        grid(measures.shares(query, key, SCALE, given)), expected["share"], rtol=0, atol=tolerance
    )
    np.testing.assert_allclose(effect, expected["effect"], rtol=10 * tolerance, atol=tolerance)
    np.testing.assert_allclose(top1, expected["top1"], rtol=0, atol=1e-6)
    part, power = measures.share_parts(query, key, SCALE, given)
    np.testing.assert_allclose(grid(part), expected["part"], rtol=0, atol=tolerance * float(power.max()))
    np.testing.assert_allclose(power, expected["power"], rtol=10 * tolerance)


@pytest.mark.parametrize("seed", range(4))
def test_measures_are_their_definitions(seed):
    query, key = made_up(seed, size=1 + seed)
    assert_as_naive(query, key)
    np.testing.assert_allclose(grid(measures.raw_rms(query, key, SCALE)), naive(query, key, SCALE)["rms"], rtol=1e-12)
    np.testing.assert_allclose(measures.shares(query, key, SCALE).sum(0), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize("mask", [None, np.tri(N, dtype=bool)], ids=["all", "causal"])
def test_a_score_bias_is_a_term_like_any_other(mask: np.ndarray | None):
    """The bias written as a source's queries and keys, in dimensions of its own, measures the same."""
    query, key = made_up()
    bias = torch.tensor(np.random.default_rng(5).normal(size=(1, H, N, N)))
    given = None if mask is None else torch.tensor(mask)
    wide = [torch.cat([x, torch.zeros(S, H, N, N, dtype=x.dtype)], -1) for x in (query, key)]
    rows = [torch.zeros(1, H, N, D + N, dtype=x.dtype) for x in (query, key)]
    rows[0][..., D:], rows[1][..., D:] = bias[0] / SCALE, torch.eye(N)
    five = [torch.cat(pair) for pair in zip(wide, rows, strict=True)]
    for measure in (measures.shares, measures.effects, measures.raw_rms):
        found, expected = measure(query, key, SCALE, given, bias), measure(*five, SCALE, given)
        pairs = zip(found, expected, strict=True) if isinstance(found, tuple) else [(found, expected)]
        for got, wanted in pairs:
            square = wanted.unflatten(0, (S + 1, S + 1))
            torch.testing.assert_close(got[:-1], square[:S, :S].flatten(0, 1))
            torch.testing.assert_close(got[-1], square[S, S])


def test_the_entropy_of_scipy_is_the_divergence_meant():
    """KL( softmax(S) || softmax(S - T) ), in that order, in nats."""
    query, key = made_up()
    scores = np.einsum("ahid,bhjd->hij", query, key) * SCALE
    term = np.einsum("hid,hjd->hij", query[1], key[2]) * SCALE
    divergence = rel_entr(softmax(scores, -1), softmax(scores - term, -1)).sum(-1).mean(-1)
    np.testing.assert_allclose(grid(measures.effects(query, key, SCALE)[0])[1, 2], divergence, rtol=1e-12)
    identity = (softmax(scores, -1) * term).sum(-1) + logsumexp(np.log(softmax(scores, -1)) - term, axis=-1)
    np.testing.assert_allclose(divergence, identity.mean(-1), rtol=1e-12)


def test_float32_is_enough_at_scores_as_large_as_a_real_model_has():
    query, key = made_up(3, tokens=60, size=4)
    assert np.abs(np.einsum("ahid,bhjd->hij", query, key) * SCALE).max() > 40
    expected = naive(query, key, SCALE)
    effect = grid(measures.effects(query.float(), key.float(), SCALE)[0])
    np.testing.assert_allclose(
        grid(measures.shares(query.float(), key.float(), SCALE)), expected["share"], rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(effect, expected["effect"], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(grid(measures.raw_rms(query.float(), key.float(), SCALE)), expected["rms"], rtol=1e-5)


def test_measures_of_a_real_model_are_their_definitions():
    made = decompose(tiny_bert(), tiny_tokenizer(), *PAIR)
    expected = naive(torch.tensor(made.query), torch.tensor(made.key), made.scale)
    found = {"share": made.shares(), "effect": made.effects(), "top1": made.top1_agreement(), "rms": made.raw_rms()}
    for measure, by_term in found.items():
        assert list(by_term) == list(TERMS)
        for a, first in enumerate(SOURCES):
            for b, second in enumerate(SOURCES):
                wanted = expected[measure][a, b]
                np.testing.assert_allclose(by_term[f"{first}_to_{second}"], wanted, rtol=1e-4, atol=2e-5)


# Masks: the sum of shares cannot test them, since it is 1 whatever the mask ------------------------------


@pytest.mark.parametrize("side", ["right", "left", "both"])
def test_padding_changes_nothing(side):
    """A padded text, full of rubbish where the padding is, measures as the same text unpadded."""
    query, key = made_up()
    before = {"right": 0, "left": 4, "both": 2}[side]
    wide_query, wide_key = (torch.full((S, H, N + 4, D), 1e6, dtype=torch.float64) for _ in range(2))
    real = slice(before, before + N)
    wide_query[:, :, real], wide_key[:, :, real] = query, key
    real_token = torch.zeros(N + 4, dtype=torch.bool)
    real_token[real] = True
    mask = real_token[:, None] & real_token
    torch.testing.assert_close(
        measures.shares(wide_query, wide_key, SCALE, mask), measures.shares(query, key, SCALE), rtol=0, atol=1e-12
    )
    for padded, plain in zip(
        measures.effects(wide_query, wide_key, SCALE, mask), measures.effects(query, key, SCALE), strict=True
    ):
        torch.testing.assert_close(padded, plain, rtol=0, atol=1e-12)
    for padded, plain in zip(
        measures.share_parts(wide_query, wide_key, SCALE, mask), measures.share_parts(query, key, SCALE), strict=True
    ):
        torch.testing.assert_close(padded, plain, rtol=1e-12, atol=1e-9)


def test_ignoring_the_mask_would_be_seen_but_not_in_the_sum():
    query, key = made_up(tokens=N + 4)
    real = torch.arange(N + 4) < N
    masked, unmasked = measures.shares(query, key, SCALE, real & real[:, None]), measures.shares(query, key, SCALE)
    assert (masked - unmasked).abs().max() > 0.05
    torch.testing.assert_close(masked.sum((0, 1)), unmasked.sum((0, 1)))


@pytest.mark.parametrize("mask", ["causal", "causal, padded", "random"])
def test_any_mask_measures_as_its_definition(mask):
    query, key = made_up(1)
    allowed = np.tril(np.ones((N, N), bool))
    if mask == "causal, padded":
        allowed[5:] = allowed[:, 5:] = False
    if mask == "random":
        allowed = np.random.default_rng(0).random((N, N)) < 0.5
    assert_as_naive(query, key, allowed)


def test_the_first_query_of_a_causal_model_counts_nowhere():
    query, key = made_up()
    causal = torch.ones(N, N, dtype=torch.bool).tril()
    other = query.clone()
    other[:, :, 0] = torch.randn(S, H, D, dtype=torch.float64) * 100
    torch.testing.assert_close(measures.shares(query, key, SCALE, causal), measures.shares(other, key, SCALE, causal))
    torch.testing.assert_close(measures.effects(query, key, SCALE, causal), measures.effects(other, key, SCALE, causal))
    only = torch.ones(1, 1, dtype=torch.bool)
    assert measures.shares(query[:, :, :1], key[:, :, :1], SCALE, only).isnan().all()
    assert all(found.isnan().all() for found in measures.effects(query[:, :, :1], key[:, :, :1], SCALE, only))


# Edges ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("padding", [0, 4])
def test_a_head_with_constant_scores_has_no_shares(dtype, padding):
    """Nothing to share out: not a number, in that head alone, whatever stands in the padding."""
    query, key = made_up(tokens=N + padding)
    key[:, 1] = key[:, 1, :1]
    if padding:
        query[:, :, N:], key[:, :, N:] = 1e5, 1e5
    real = torch.arange(N + padding) < N
    mask = real & real[:, None] if padding else None
    found = grid(measures.shares(query.to(dtype), key.to(dtype), SCALE, mask))
    assert found[:, :, 1].isnan().all()
    assert not found[:, :, [0, 2]].isnan().any()
    parts, power = measures.share_parts(query.to(dtype), key.to(dtype), SCALE, mask)
    assert power[1] == 0
    assert (grid(parts)[:, :, 1] == 0).all()  # or rounding would be pooled with the texts where it is not constant
    effect, top1 = (grid(x) for x in measures.effects(query.to(dtype), key.to(dtype), SCALE, mask))
    assert effect[:, :, 1].abs().max() < 1e-5
    assert effect[:, :, 0].max() > 0.1
    assert not top1.isnan().any()


def test_a_term_whose_keys_are_alike_has_no_effect_at_all():
    query, key = made_up()
    key[2] = key[2, :, :1] * 50
    effect, top1 = (grid(found) for found in measures.effects(query, key, SCALE))
    assert (effect[:, 2] == 0).all()
    assert (top1[:, 2] == 1).all()
    assert (grid(measures.shares(query, key, SCALE))[:, 2].abs() < 1e-10).all()
    assert (grid(measures.raw_rms(query, key, SCALE))[:, 2] > 10).all()  # which is why RMS misleads


def test_a_share_is_negative_where_a_term_works_against_the_total():
    query, key = torch.zeros(S, 1, 2, 1), torch.zeros(S, 1, 2, 1)
    query[0], query[1] = 3, -1
    key[0, 0, 0] = 1
    found = grid(measures.shares(query, key, 1.0))[:, :, 0]
    torch.testing.assert_close(found[:2, 0], torch.tensor([1.5, -0.5]))
    torch.testing.assert_close(found.sum(), torch.tensor(1.0))


def test_key_centring_leaves_the_softmax_alone():
    query, key = made_up()
    scores = measures.score_map(query.sum(0), key.sum(0), SCALE)
    centred = measures.key_centred(scores)
    torch.testing.assert_close(centred.softmax(-1), scores.softmax(-1))
    torch.testing.assert_close(centred.mean(-1), torch.zeros(H, N, dtype=torch.float64))
    mask = torch.tensor(np.random.default_rng(1).random((N, N)) < 0.6)
    masked = measures.key_centred(scores, mask)
    assert (masked[:, ~mask] == 0).all()
    torch.testing.assert_close(masked.sum(-1), torch.zeros(H, N, dtype=torch.float64))


# Over a corpus -------------------------------------------------------------------------------------------

TEXTS = [(TEXT, None), ("the cat", None), PAIR, ("a dog never saw the hill .", None), ("unhappiness ran !", None)]


@pytest.fixture(autouse=True)
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "store.duckdb"))


def tiny_loaded(**changes: Any) -> Loaded:
    return Loaded(tiny_bert(**changes), tiny_tokenizer(), Source("tiny", "r1", Path(), {"model_type": "bert"}), "cpu")


def rows_of(path: Path, layer: int = 0) -> dict[tuple[str, int | None, str], dict[str, Any]]:
    kind, table, _ = files.read(path)
    assert kind == "terms"
    return {(row["aggregation"], row["head"], row["term"]): row for row in table.to_pylist() if row["layer"] == layer}


@pytest.mark.parametrize("layer", [0, 1])
def test_corpus_statistics_pool_the_queries_of_all_texts(layer: int):
    loaded = tiny_loaded()
    rows = rows_of(measure_corpus(loaded, TEXTS, "five"), layer)
    made = [decompose(loaded.model, loaded.tokenizer, *text, layer=layer) for text in TEXTS]
    each = [naive(torch.tensor(one.query), torch.tensor(one.key), one.scale) for one in made]
    counts = [len(one.tokens) for one in made]
    part, power = np.sum([one["part"] for one in each], 0), np.sum([one["power"] for one in each], 0)
    expected = {
        "share": part / power,
        "effect": np.average([one["effect"] for one in each], axis=0, weights=counts),
        "top1_agreement": np.average([one["top1"] for one in each], axis=0, weights=counts),
        "rms": np.sqrt(np.average([one["rms"] ** 2 for one in each], axis=0, weights=np.square(counts))),
    }
    assert len(rows) == len(TERMS) * (4 + 2)
    for (aggregation, head, term), row in rows.items():
        at = tuple(SOURCES.index(source) for source in term.split("_to_"))
        for measure, values in expected.items():
            wanted = values[at][head] if aggregation == "head" else values[at].mean()
            if aggregation == "pooled_over_heads":
                wanted = {"share": part[at].sum() / power.sum(), "rms": np.sqrt((values[at] ** 2).mean())}.get(
                    measure, wanted
                )
            assert row[measure] == pytest.approx(wanted, rel=1e-3, abs=2e-5), (aggregation, head, term, measure)
        assert (row["texts"], row["queries"], row["layer"], row["corpus"]) == (5, sum(counts), layer, "five")
        assert row["max_error"] == pytest.approx(max(one.max_error for one in made))
        assert row["relative_error"] == pytest.approx(max(one.relative_error for one in made))
        assert row["pattern_error"] == pytest.approx(max(one.pattern_error for one in made))
    for aggregation, head in [("head", 0), ("mean_over_heads", None), ("pooled_over_heads", None)]:
        assert sum(rows[aggregation, head, term]["share"] for term in TERMS) == pytest.approx(1, abs=1e-4)


def test_intervals_hold_the_estimate_and_are_the_same_every_time():
    loaded = tiny_loaded()
    first, again = (rows_of(measure_corpus(loaded, TEXTS, "five")) for _ in range(2))
    assert first == again
    for row in first.values():
        assert row["share_low"] <= row["share"] <= row["share_high"]
        assert row["effect_low"] <= row["effect"] <= row["effect_high"]
    wide = [row["share_high"] - row["share_low"] for row in first.values() if not row["term"].endswith("_bias")]
    assert min(wide) > 1e-4


def test_the_interval_of_one_text_repeated_has_no_width():
    rows = rows_of(measure_corpus(tiny_loaded(), [(TEXT, None)] * 4, "same"))
    for row in rows.values():
        assert row["share_high"] - row["share_low"] < 1e-9
        assert row["effect_high"] - row["effect_low"] < 1e-9


def test_the_interval_is_the_percentile_bootstrap_over_texts():
    """An independent bootstrap of one figure, with other draws, ends at nearly the same places."""
    loaded = tiny_loaded()
    row = rows_of(measure_corpus(loaded, TEXTS, "five"))["head", 1, "word_to_word"]
    made = [decompose(loaded.model, loaded.tokenizer, *text) for text in TEXTS]
    each = [naive(torch.tensor(one.query), torch.tensor(one.key), one.scale) for one in made]
    part, power = (np.array([one["part"][0, 0, 1] for one in each]), np.array([one["power"][1] for one in each]))
    drawn = np.random.default_rng(7).integers(0, len(TEXTS), (20_000, len(TEXTS)))
    low, high = np.percentile(part[drawn].sum(1) / power[drawn].sum(1), [2.5, 97.5])
    width = high - low
    assert row["share_low"] == pytest.approx(low, abs=0.1 * width)
    assert row["share_high"] == pytest.approx(high, abs=0.1 * width)


def test_a_head_that_looks_nowhere_is_stored_as_undefined(recwarn):
    loaded = tiny_loaded()
    model: Any = loaded.model
    attention = model.encoder.layer[0].attention.self
    with torch.no_grad():
        attention.key.weight[:8] = 0  # head 0: every key is the bias
    rows = rows_of(measure_corpus(loaded, TEXTS, "five"))
    for term in TERMS:
        assert all(np.isnan(rows["head", 0, term][column]) for column in ("share", "share_low", "share_high")), term
        assert np.isfinite(rows["head", 1, term]["share"])
        assert np.isfinite(rows["pooled_over_heads", None, term]["share"])
        assert abs(rows["head", 0, term]["effect"]) < 1e-6
    assert not [warning for warning in recwarn if issubclass(warning.category, RuntimeWarning)]


def test_an_empty_corpus_is_refused_and_a_cut_text_is_counted():
    with pytest.raises(TextError, match=r"The corpus 'none' holds no text; expected one that"):
        measure_corpus(tiny_loaded(), [], "none")
    _, _, run = files.read(measure_corpus(tiny_loaded(), [(TEXT, None), (" ".join(["cat"] * 60), None)], "long"))
    assert run["config"]["truncated_texts"] == 1
    assert run["command"] == "python -m analysis measure terms --model tiny --corpus long"


def test_texts_of_a_file_are_named_by_their_hash(tmp_path):
    """A corpus of the store and a file of the same texts give the same numbers; the file's run holds its hash."""
    _, stored, _ = files.read(measure_corpus(tiny_loaded(), TEXTS, "five"))
    _, own, run = files.read(measure_corpus(tiny_loaded(), TEXTS, "five", given=True))
    _, _, other = files.read(measure_corpus(tiny_loaded(), TEXTS[:4], "five", given=True))
    assert own.to_pylist() == stored.to_pylist()
    assert "measure terms --model tiny --texts TEXT --corpus five" in run["command"]
    assert run["config"]["texts_sha256"] != other["config"]["texts_sha256"]


def test_texts_are_cut_to_the_positions_that_training_reached():
    long = " ".join(["the cat sat on"] * 6)
    _, table, run = files.read(measure_corpus(tiny_loaded(), [(long, None), (TEXT, None)], "cut", tokens=6))
    _, own, _ = files.read(measure_corpus(tiny_loaded(), [("the cat sat on", None), (TEXT, None)], "cut", tokens=6))
    assert run["config"]["tokens"] == 6
    assert run["config"]["truncated_texts"] >= 1
    assert "--tokens 6" in run["command"]
    assert table.to_pylist() == own.to_pylist()
