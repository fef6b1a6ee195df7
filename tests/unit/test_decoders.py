"""What is particular to decoders: rotated positions, a first token that sees itself alone, a scale of each layer."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import SPECIMENS, ids, randomised
from tiny_tokenizers import byte_level
from transformers import GPT2Config, GPT2Model

from analysis.core.term_names import SOURCES
from analysis.measurements.terms import TERMS, decompose, measures
from analysis.measurements.terms.masks import attended_keys, describe_mask
from analysis.measurements.terms.token_view import token_view
from analysis.models.families import FAMILIES
from analysis.models.trace_sources import Layer, trace_sources

WORD, BIAS = SOURCES.index("word"), SOURCES.index("bias")


def layers_of(name: str, model: Any = None, inputs: Any = None, **options: Any) -> list[Layer]:
    model = SPECIMENS[name].build() if model is None else model
    found: list[Layer] = []
    trace_sources(model, FAMILIES[name.split()[0]], inputs or ids(model), found.append, **options)
    return found


def along_diagonals(scores: np.ndarray) -> float:
    """The largest spread of the scores (head, query, key) over pairs of one distance."""
    length = scores.shape[-1]
    return max(float(np.ptp(np.diagonal(scores, k, 1, 2), axis=-1).max()) for k in range(1 - length, length))


@pytest.mark.parametrize("name", ["llama with biases", "qwen2", "gpt_neox"])
def test_bias_to_bias_of_rotated_positions_depends_on_the_distance_alone(name: str) -> None:
    """Biases are the same at every token, so what rotation makes of them is position's own (method.md, section 4)."""
    factors = layers_of(name)[0].factors()
    bias = (factors.query[BIAS] @ factors.key[BIAS].mT).double().numpy()
    word = (factors.query[WORD] @ factors.key[WORD].mT).double().numpy()
    assert along_diagonals(bias) < 1e-5 * np.ptp(bias)
    assert along_diagonals(word) > 0.1 * np.ptp(word)
    assert np.ptp(bias, axis=-1).min() > 0.01  # it does depend on the distance


def test_bias_to_bias_of_llama_is_what_the_formula_says() -> None:
    """b_Q R(j - i) b_K, from the weights alone: Su et al. 2021, equation 16, as transformers pairs dimensions."""
    model = SPECIMENS["llama with biases"].build()
    factors = layers_of("llama with biases", model)[0].factors()
    attention = model.layers[0].self_attn
    heads, groups, size = 4, 2, 8
    query = attention.q_proj.bias.detach().double().numpy().reshape(heads, size)
    key = attention.k_proj.bias.detach().double().numpy().reshape(heads // groups, size).repeat(groups, 0)
    angle = 10_000.0 ** (-np.arange(0, size, 2) / size)
    length = factors.query.shape[2]
    expected = np.zeros((heads, length, length))
    for i in range(length):
        for j in range(length):
            turn = (j - i) * angle
            a, b = query[:, : size // 2] + 1j * query[:, size // 2 :], key[:, : size // 2] + 1j * key[:, size // 2 :]
            expected[:, i, j] = (a.conj() * b * np.exp(1j * turn)).real.sum(-1)
    got = (factors.query[BIAS] @ factors.key[BIAS].mT).numpy()
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 * np.ptp(expected))


def test_rotations_are_the_cosines_and_sines_of_every_position() -> None:
    for name in ("llama", "mistral", "qwen2", "qwen3", "gpt_neox"):
        model = SPECIMENS[name].build()
        (rotation,) = FAMILIES[name].rotations(model)
        cosine, sine = rotation(torch.zeros(1, 7, 32), torch.arange(7)[None])
        torch.testing.assert_close(cosine**2 + sine**2, torch.ones_like(cosine))
        torch.testing.assert_close(sine[0, :, 0], torch.arange(7.0).sin())


def test_gpt2_may_scale_by_layer_and_the_terms_do_so() -> None:
    def scales(**changes: Any) -> list[float]:
        shape: dict[str, Any] = {"vocab_size": 25, "n_embd": 32, "n_head": 4, "n_layer": 3, "n_positions": 40}
        return [layer.call.scale for layer in layers_of("gpt2", GPT2Model(GPT2Config(**shape, **changes)).eval())]

    root = 1 / math.sqrt(8)
    assert scales() == pytest.approx([root] * 3)
    assert scales(scale_attn_by_inverse_layer_idx=True) == pytest.approx([root, root / 2, root / 3])
    assert scales(scale_attn_weights=False) == [1] * 3


def test_opt_counts_positions_from_its_third_row() -> None:
    """The rows of the table that are used are 2, 3, …: the first two are spare (transformers' own offset)."""
    model = SPECIMENS["opt"].build()
    inputs = {key: value[:1] for key, value in ids(model).items()}
    before = layers_of("opt", model, inputs)[0].factors().query
    with torch.no_grad():
        model.decoder.embed_positions.weight[:2] = 100.0
    torch.testing.assert_close(layers_of("opt", model, inputs)[0].factors().query, before)
    with torch.no_grad():
        model.decoder.embed_positions.weight[2, 0] += 5.0
    after = layers_of("opt", model, inputs)[0].factors().query
    position = SOURCES.index("position")
    changed = (after - before)[position].abs().amax((0, 2)) > 1e-4
    assert changed.tolist() == [True] + [False] * (changed.numel() - 1)


# The first token of a decoder sees itself alone ----------------------------------------------------------------


def gpt2(**changes: Any) -> Any:
    sizes: dict[str, Any] = {"vocab_size": 300, "n_embd": 32, "n_head": 4, "n_layer": 2, "n_positions": 40}
    return randomised(GPT2Model(GPT2Config(**sizes | changes)))


def test_a_query_with_one_key_has_no_share_and_adds_nothing() -> None:
    factors, mask = (layer := layers_of("gpt2")[1]).factors(), layer.attended()
    assert mask is not None
    assert mask.sum(1).tolist() == list(range(1, 10))
    first = measures.shares(factors.query[:, :, :1], factors.key, factors.scale, mask[:1])
    assert first.isnan().all()
    effect, agreement = measures.effects(factors.query[:, :, :1], factors.key, factors.scale, mask[:1])
    assert effect.isnan().all()
    assert agreement.isnan().all()
    for measure in (measures.shares, lambda *args: measures.effects(*args)[0]):
        with_it = measure(factors.query, factors.key, factors.scale, mask)
        without = measure(factors.query[:, :, 1:], factors.key, factors.scale, mask[1:])
        assert with_it.isfinite().all()
        torch.testing.assert_close(with_it, without)


def test_a_text_of_one_token_has_scores_and_no_shares() -> None:
    for model in (gpt2(), gpt2(n_head=1)):
        made = decompose(model, byte_level(), "The", layer=1)
        assert made.tokens == ["The"]
        assert made.scores.shape == (model.config.n_head, 1, 1)
        np.testing.assert_allclose(made.total(), made.scores, rtol=1e-4)
        np.testing.assert_array_equal(made.pattern, 1)
        for measured in (made.shares(), made.effects(), made.top1_agreement()):
            assert list(measured) == list(TERMS)
            assert all(np.isnan(value).all() for value in measured.values())
        assert made.relative_error < 1e-4


def test_terms_of_a_text_add_up_under_the_causal_mask() -> None:
    for layer in range(2):
        made = decompose(gpt2(), byte_level(), "The cat sat on the mat.", layer=layer)
        assert made.attends == "causal"
        assert made.relative_error < 1e-5
        assert made.pattern_error < 1e-5
        np.testing.assert_array_equal(np.triu(made.pattern, 1), 0)
        assert made.present == tuple(t for t in TERMS if "segment" not in t)
        np.testing.assert_allclose(sum(made.shares().values()), 1, rtol=0, atol=1e-4)


def test_maps_are_centred_over_the_keys_that_are_attended_to() -> None:
    """As the shares are; a mean over keys that softmax never sees would not be ignored by it."""
    made = decompose(gpt2(), byte_level(), "The cat sat on the mat.", layer=1)
    view = token_view(made, 2, list(TERMS), words=False, specials=True, centred=True)
    for term, shown in view.terms.items():
        for query, row in enumerate(made.terms_of(term, 2)):
            seen = row[: query + 1]
            np.testing.assert_allclose(shown[query, : query + 1], seen - seen.mean(), rtol=0, atol=1e-5)
            np.testing.assert_array_equal(shown[query, query + 1 :], 0)
    total = np.sum(list(view.terms.values()), axis=0)
    share = (view.terms["word_to_word"] * total).sum() / (total**2).sum()
    assert share == pytest.approx(made.shares()["word_to_word"][2], abs=1e-5)


@pytest.mark.parametrize("name", ["mistral", "qwen2 with a window"])
def test_a_sliding_window_is_what_a_query_attends_to_and_is_kept_in_words(name: str) -> None:
    """Four keys at most, itself the last: transformers' window counts the query's own key."""
    layer = layers_of(name)[-1]
    seen = layer.attended()
    assert seen is not None
    i, j = np.indices(seen.shape)
    expected = (j <= i) & (i - j < 4)
    np.testing.assert_array_equal(seen.numpy(), expected)
    assert describe_mask(seen.numpy()) == "causal near 3"
    np.testing.assert_array_equal(attended_keys("causal near 3", len(seen)), expected)
    pattern = layer.pattern[0].numpy()
    np.testing.assert_array_equal(pattern[:, ~expected], 0)
    np.testing.assert_allclose(pattern.sum(-1), 1, rtol=0, atol=1e-5)
