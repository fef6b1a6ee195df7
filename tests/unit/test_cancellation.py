"""Terms far larger than the scores they add up to: the factor is shown, the sum stays exact, shares are withheld.

A model is made so from one that is not: a constant is added to every word vector and taken from every position vector,
which changes no sum, no hidden state and no score, and makes the terms as large as one likes.
"""

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS, ids, randomised
from tiny_tokenizers import byte_level
from transformers import BertConfig, BertModel

from analysis.figures.one_run import cancellation_note
from analysis.measurements.terms import decompose, measures
from analysis.measurements.terms.corpus import measure_input, rows_of
from analysis.measurements.terms.result import MAX_CANCELLATION
from analysis.models.families import FAMILIES
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer, trace_sources
from analysis.probes.text_probe import LayersRequest

TEXT = "the cat sat on the mat and the dog sat too"


@pytest.fixture(scope="module")
def tokenizer():
    return byte_level()


def model(tokenizer, constant: float) -> BertModel:
    """A small BERT in float32 whose words have a constant too much that its positions have too little."""
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=48,
        max_position_embeddings=32,
    )
    made = randomised(BertModel._from_config(config, attn_implementation="eager"), 0.3)
    far = torch.randn(32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with torch.no_grad():
        words, positions = made.embeddings.word_embeddings.weight, made.embeddings.position_embeddings.weight
        words.copy_(words.double() + constant * far)
        positions.copy_(positions.double() - constant * far)
    return made


def independent(made) -> np.ndarray:
    """The factor of each head by its definition, from the maps of all terms in float64."""
    sizes, total = 0.0, 0.0
    for a in range(len(made.query)):
        for b in range(len(made.key)):
            scores = made.query[a].astype(float) @ made.key[b].astype(float).swapaxes(-1, -2) * made.scale
            scores = scores - scores.mean(-1, keepdims=True)
            sizes, total = sizes + np.sqrt((scores**2).sum((-1, -2))), total + scores
    return sizes / np.sqrt((total**2).sum((-1, -2)))


def test_the_factor_is_that_of_the_definition(tokenizer):
    plain, far = (decompose(model(tokenizer, constant), tokenizer, TEXT) for constant in (0.0, 300.0))
    for made in (plain, far):
        np.testing.assert_allclose(made.cancellation, independent(made), rtol=1e-3)
    assert plain.cancellation.max() < 10
    assert far.cancellation.min() > 100
    np.testing.assert_allclose(plain.scores, far.scores, atol=2e-3)


def test_shares_that_say_nothing_are_withheld_and_the_reason_is_said(tokenizer):
    plain, far = (decompose(model(tokenizer, constant), tokenizer, TEXT) for constant in (0.0, 300.0))
    assert all(np.isfinite(share).all() for share in plain.shares().values())
    assert all(np.isnan(share).all() for share in far.shares().values())
    assert all(np.isfinite(effect).all() for effect in far.effects().values())
    assert "withheld" not in cancellation_note(plain.cancellation)
    said = cancellation_note(far.cancellation)
    assert "shares are withheld" in said
    assert "heads 0, 1, 2, 3." in said
    assert f"{far.cancellation.max():,.1f} times as large" in said


def test_the_sum_stays_exact_where_terms_are_large(tokenizer):
    """float32 would round terms of this size by more than the error that is left."""
    made = decompose(model(tokenizer, 300.0), tokenizer, TEXT)
    assert made.query.dtype == np.float64
    assert made.relative_error < 1e-5
    query, key = made.query.astype(np.float32), made.key.astype(np.float32)
    rounded = sum((q @ k.swapaxes(-1, -2)) * np.float32(made.scale) for q in query for k in key)
    exact = sum((q @ k.swapaxes(-1, -2)) * made.scale for q in made.query for k in made.key)
    assert np.abs(rounded - exact).max() / np.ptp(made.scores) > 1e-5
    assert decompose(model(tokenizer, 0.0), tokenizer, TEXT).query.dtype == np.float32


def test_every_layer_says_the_same(tokenizer):
    made = model(tokenizer, 300.0)
    run = LayersRequest(model="", text=TEXT).run(Loaded.of(made, tokenizer))
    one = decompose(made, tokenizer, TEXT)
    np.testing.assert_allclose(run.cancellation[0], one.cancellation, rtol=1e-2)
    withheld = run.cancellation > MAX_CANCELLATION
    assert withheld[0].all()
    assert (np.isnan(run.values).all(1) == withheld).all()
    assert "of layer 0" in cancellation_note(run.cancellation)


def test_a_corpus_withholds_them_too(tokenizer):
    found: list = []
    for constant in (0.0, 300.0):
        made = model(tokenizer, constant)
        inputs = dict(tokenizer(TEXT, return_tensors="pt"))
        seen: list[Layer] = []
        trace_sources(made, FAMILIES["bert"], inputs, lambda layer, seen=seen: seen.append(layer))
        with torch.inference_mode():
            found.append(list(rows_of([measure_input(seen[0])], 0, np.ones((2, 1)), ())))
    plain, far = ({(row["aggregation"], row["head"], row["term"]): row for row in rows} for rows in found)
    assert all(np.isfinite(row["share"]) for row in plain.values())
    assert all(np.isnan(row["share"]) and np.isnan(row["share_low"]) for row in far.values())
    assert all(np.isfinite(row["effect"]) for row in far.values())


@pytest.mark.parametrize("name", [name for name, one in SPECIMENS.items() if one.inputs is None])
def test_in_every_family_the_factor_is_at_least_one_and_bounds_the_shares(name):
    made = SPECIMENS[name].build()
    family, checked = FAMILIES[made.config.model_type], []

    def each(seen: Layer) -> None:
        factors, mask = seen.factors(), seen.attended()
        given = (factors.query, factors.key, factors.scale, mask, factors.bias)
        parts, power = measures.share_parts(*given)
        factor = measures.cancellation(measures.centred_squares(*given), power)
        told = power > 0
        maps = [
            measures.key_centred(measures.score_map(q.double(), k.double(), factors.scale), mask)
            for q in factors.query
            for k in factors.key
        ]
        maps += [] if factors.bias is None else [*measures.key_centred(factors.bias.double(), mask)]
        exact = torch.stack([(term * sum(maps)).sum((-1, -2)) for term in maps])
        size = exact.abs().amax(0)
        assert ((parts - exact).abs().amax(0)[told] <= 1e-2 * size[told]).all(), "what all keys share is rounded away"
        assert (factor[told] > 1 - 1e-4).all()
        assert ((parts / power).abs().sum(0)[told] <= factor[told] * (1 + 1e-3)).all()
        checked.append(seen.index)

    with torch.inference_mode():
        trace_sources(made, family, {key: x[:1] for key, x in ids(made).items()}, each)
    assert checked
