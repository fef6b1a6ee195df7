"""Proves that a position map is the model's own scores, split as its definition says, for models that people use.

Held against loops in float64 over queries and keys taken before any turn from the model's own projections, against
transformers' own frequencies, and against models made wrong on purpose.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from family_specimens import GROUPED, SPECIMENS, YARN, randomised
from family_specimens import _tiny as tiny
from specimens import TEXT, tiny_bert, tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, RoFormerConfig, RoFormerModel

from analysis.core.errors import ModelError
from analysis.measurements.positions.conformance import differences, expected_turns, measured_turns
from analysis.measurements.positions.measure import (
    BIAS,
    STILL,
    TABLE,
    bands_of,
    layer_rotation,
    position_map,
    unturned_calls,
)
from analysis.measurements.positions.result import BANDS, EDGES
from analysis.measurements.positions.rotation import Rotation
from analysis.measurements.positions.split import split_bands, split_bias
from analysis.measurements.positions.unturn import unturn
from analysis.measurements.terms.run import encode

HEADS = {"head_dim": 8, **GROUPED}
LOCAL = {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
TURNING: dict[str, Callable[[], Any]] = {
    **{
        name: SPECIMENS[name].build
        for name in ("llama", "mistral", "qwen2", "qwen3", "gpt_neox", "modernbert", "addend rotary")
    },
    "gemma": tiny("Gemma", **HEADS),
    "gemma 2": tiny("Gemma2", **HEADS),
    "gemma 3": tiny("Gemma3Text", **HEADS, **LOCAL),
    "phi 3, half of it turned": tiny("Phi3", num_key_value_heads=2, partial_rotary_factor=0.5),
    "phi": tiny("Phi", partial_rotary_factor=0.5),
    "olmo 2": tiny("Olmo2", **HEADS),
    "olmo 3": tiny("Olmo3", **HEADS),
    "smollm 3, a layer without": tiny("SmolLM3", **HEADS, no_rope_layers=[1, 0, 1]),
    "cohere": tiny("Cohere", **HEADS),
    "cohere 2": tiny("Cohere2", **HEADS, **LOCAL),
    "glm 4": tiny("Glm4", **HEADS),
    "stablelm": tiny("StableLm", **HEADS),
    "mixtral": tiny("Mixtral", **HEADS),
    "qwen 3 with experts": tiny("Qwen3Moe", **HEADS),
    "granite": tiny("Granite", **HEADS),
    "starcoder 2": tiny("Starcoder2", **HEADS),
    "nomic-bert": tiny("NomicBert"),
    "eurobert": tiny("EuroBert", **HEADS),
    "esm 2": tiny("Esm", position_embedding_type="rotary"),
    "llama 4, a layer without": tiny("Llama4Text", **HEADS, no_rope_layers=[1, 0, 1]),
    "gemma 3n": tiny(
        "Gemma3nText",
        **HEADS,
        num_kv_shared_layers=0,
        hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=25,
        laurel_rank=4,
    ),
    "gemma 4": tiny("Gemma4Text", **HEADS),
    "llama, yarn": tiny("Llama", rope_parameters=YARN, **HEADS),
}


def given(model: Any) -> Any:
    return encode(tiny_tokenizer(), TEXT, None, model, False)[0]


@pytest.mark.parametrize("name", TURNING)
def test_bands_add_up_to_the_models_own_scores_and_shares_to_one(name: str) -> None:
    model = TURNING[name]()
    result = position_map(model, tiny_tokenizer(), TEXT)
    assert result.errors.max() < 1e-5
    np.testing.assert_allclose(result.shares().sum((1, 2)), 1, atol=1e-4)
    np.testing.assert_allclose(result.head_shares().sum(1), 1, atol=1e-4)
    assert max(one.error for one in result.rotations) < 1e-4
    assert result.kernels is not None
    assert result.kernels.shape == (len(result.power), len(BANDS) + 1, 4, 2 * result.tokens - 1)


@pytest.mark.parametrize("name", [name for name in TURNING if name not in ("addend rotary", "esm 2")])
def test_a_model_turns_what_its_config_says(name: str) -> None:
    model = TURNING[name]()
    turns = measured_turns(model, given(model))
    tokens = len(tiny_tokenizer()(TEXT)["input_ids"])
    assert differences(turns, expected_turns(model.config, [one.width for one in turns], tokens), "it", "config") == []


def test_a_layer_without_positions_turns_nothing_and_owes_nothing_to_position() -> None:
    result = position_map(TURNING["smollm 3, a layer without"](), tiny_tokenizer(), TEXT)
    assert [one.turned for one in result.rotations] == [8, 0, 8]
    assert result.position_share()[1].sum() == pytest.approx(0, abs=1e-6)
    assert result.shares()[1, result.sources.index(STILL), 0] == pytest.approx(1, abs=1e-5)


def test_the_split_is_its_definition_in_float64() -> None:
    """Queries and keys come from the projections, before any turn; the parts are means over every pair and distance."""
    model = tiny("Llama", **HEADS)()
    attention = model.layers[1].self_attn
    projected: dict[str, Any] = {}
    hooks = [
        getattr(attention, f"{side}_proj").register_forward_hook(
            lambda _m, _a, out, side=side: projected.update({side: out})
        )
        for side in ("q", "k")
    ]
    result = position_map(model, tiny_tokenizer(), TEXT)
    with torch.inference_mode():
        model(**given(model))
    for hook in hooks:
        hook.remove()
    tokens, head = result.tokens, 3
    query = projected["q"][0].double().view(tokens, 4, 8)[:, head].numpy()
    key = projected["k"][0].double().view(tokens, 2, 8)[:, head // 2].numpy()
    frequency = model.rotary_emb.inv_freq.double().numpy()
    q, k = query[:, :4] + 1j * query[:, 4:], key[:, :4] + 1j * key[:, 4:]
    pairs = [(i, j) for i in range(tokens) for j in range(i + 1)]
    bands = bands_of(layer_rotation(*unturned_calls(model, given(model))[1]))

    def score(i: int, j: int, away: int, band: list[int]) -> float:
        return float((q[i] * k[j].conj() * np.exp(-1j * frequency * away))[band].real.sum()) / 8**0.5

    def centred(values: np.ndarray) -> np.ndarray:
        rows = [values[i, : i + 1] - values[i, : i + 1].mean() for i in range(tokens)]
        return np.concatenate(rows)

    everything = np.zeros((tokens, tokens))
    parts = {}
    for number, band in enumerate(bands):
        maps = np.zeros((3, tokens, tokens))
        kernel = {away: np.mean([score(i, j, away, band) for i, j in pairs]) for away in range(-tokens + 1, 1)}
        for i, j in pairs:
            whole = score(i, j, j - i, band)
            content = np.mean([score(i, j, b - a, band) for a, b in pairs])
            maps[:, i, j] = content, kernel[j - i], whole - content - kernel[j - i]
            everything[i, j] += whole
        parts[number] = maps
        np.testing.assert_allclose(
            result.kernels[1, number, head, :tokens], [kernel[away] for away in range(-tokens + 1, 1)], atol=2e-5
        )
    total = centred(everything)
    for number, maps in parts.items():
        expected = [(total * centred(one)).sum() / (total**2).sum() for one in maps]
        measured = result.numerators[1, number, :, head] / result.power[1, head]
        np.testing.assert_allclose(measured, expected, atol=2e-5)


def other(name: str, **fields: Any) -> Callable[[], Any]:
    """A tiny model of transformers' own, for architectures that name their shape otherwise."""

    def build() -> Any:
        part = getattr(transformers, f"{name}Config")(**fields)
        return getattr(transformers, f"{name}Model")(part).eval()

    return build


GPT = {"vocab_size": 25, "n_embd": 32, "n_head": 4, "n_layer": 2, "rotary_dim": 4, "n_positions": 40}
SEEING = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "roformer, a random table": (SPECIMENS["roformer"].build, "no layout of pairs explains"),
    "falcon": (tiny("Falcon"), "cannot be read"),
    "gpt-j": (other("GPTJ", **GPT), "cannot be read"),
    "codegen": (other("CodeGen", **GPT), "cannot be read"),
    "longformer": (tiny("Longformer", attention_window=4), "cannot be read"),
    "bigbird": (tiny("BigBird"), "cannot be read"),
    "xlnet": (other("XLNet", vocab_size=25, d_model=32, n_layer=2, n_head=4, d_inner=16), "cannot be read"),
    "qwen 3 next": (tiny("Qwen3Next", **HEADS), "cannot be read"),
    "gpt-oss": (tiny("GptOss", **HEADS), "does more to its scores"),
    "whisper": (
        other("Whisper", vocab_size=25, d_model=48, pad_token_id=0, decoder_start_token_id=1, eos_token_id=2),
        "an encoder and a decoder",
    ),
    "siglip, text": (
        other("SiglipText", vocab_size=25, **SEEING, projection_size=32, max_position_embeddings=40, eos_token_id=2),
        "no cosine and sine that can be seen",
    ),
    "siglip, images": (other("SiglipVision", image_size=32, patch_size=8, **SEEING), "has no table of words"),
}
"""Architectures that people ask for and whose positions cannot be told apart here, with what they are told."""


def test_angles_that_do_not_grow_owe_nothing_to_position() -> None:
    rng = torch.Generator().manual_seed(0)
    query, key = torch.randn(2, 6, 8, generator=rng), torch.randn(2, 6, 8, generator=rng)
    pairs = torch.stack([torch.arange(4), torch.arange(4, 8)], -1)
    scores = query @ key.mT
    result = split_bands(query, key, pairs, torch.zeros(4), [[0, 1, 2, 3]], [], 1.0, scores)
    shares = result.numerators / result.power
    torch.testing.assert_close(shares[0, 0], torch.ones(2))
    torch.testing.assert_close(shares[0, 1:], torch.zeros(2, 2), atol=1e-5, rtol=0)


def test_a_bias_of_distance_alone_is_position_alone() -> None:
    """ALiBi in BLOOM, and T5's buckets: what is added knows the distance and no word."""
    for name in ("bloom", "t5", "addend alibi"):
        result = position_map(SPECIMENS[name].build(), tiny_tokenizer(), TEXT)
        shares = result.shares()[:, result.sources.index(BIAS)]
        assert np.abs(shares[:, 1]).max() > 1e-4
        np.testing.assert_allclose(shares[:, 2], 0, atol=1e-5, err_msg=name)
        np.testing.assert_allclose(result.shares().sum((1, 2)), 1, atol=1e-4)


def test_a_bias_that_knows_words_too_has_both() -> None:
    rng = torch.Generator().manual_seed(1)
    bias = torch.randn(1, 5, 5, generator=rng)
    total = bias - bias.mean(-1, keepdim=True)
    alone, both = (split_bias(bias, total)[1:] / total.square().sum()).flatten().tolist()
    assert alone + both == pytest.approx(1, abs=1e-5)
    assert both > 0.1


def test_added_positions_are_told_by_their_terms() -> None:
    result = position_map(tiny_bert(), tiny_tokenizer(), TEXT)
    row = result.sources.index(TABLE)
    assert (result.kind, result.kernels, result.rotations) == ("added", None, ())
    assert result.shares()[0, row, 1] != 0
    np.testing.assert_allclose(result.shares().sum((1, 2)), 1, atol=1e-4)


def test_bands_are_by_wavelength() -> None:
    frequency = torch.tensor([2 * np.pi / wave for wave in (2.5, 8.1, 31, 100, 3000, 9000)])
    none = torch.zeros(6, 2, dtype=torch.long)
    rotation = Rotation(none, none, frequency, torch.ones(6), 12, 0.0)
    assert bands_of(rotation) == [[0], [1, 2], [3], [], [], [4], [5]]
    assert len(BANDS) == len(EDGES) + 1


def changed(model: Any, change: Callable[[Any], None]) -> Any:
    change(model)
    return model


def test_a_base_other_than_the_configs_is_found_with_its_band() -> None:
    model = tiny("Llama", **HEADS)()
    model.rotary_emb.inv_freq = 1 / 500_000 ** (torch.arange(0, 8, 2) / 8)
    turns = measured_turns(model, given(model))
    (first, *_) = found = differences(turns, expected_turns(model.config, [8] * 3, 17), "the model", "its config")
    assert [one.layer for one in found] == [0, 1, 2]
    assert first.band == "32 to 128"
    assert first.what.startswith("a wavelength of 167.1 tokens in the model is 62.8 in its config")


def test_code_that_turns_all_where_the_config_says_a_quarter_is_found() -> None:
    model = tiny("GPTNeoX", rope_parameters={"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 1.0})()
    model.config.rope_parameters["partial_rotary_factor"] = 0.25
    found = differences(measured_turns(model, given(model)), expected_turns(model.config, [8] * 3, 17), "it", "config")
    assert found[0].what == "it turns 8 of 8 dimensions, config 2 of 8"


def test_a_layer_that_should_have_none_is_found() -> None:
    model = tiny("SmolLM3", **HEADS, no_rope_layers=[1, 1, 1])()
    model.config.no_rope_layers = [1, 0, 1]
    found = differences(measured_turns(model, given(model)), expected_turns(model.config, [8] * 3, 17), "it", "config")
    assert [(one.layer, one.what) for one in found] == [(1, "it turns 8 of 8 dimensions, config 0 of 8")]


def test_a_longrope_factor_left_out_is_found() -> None:
    scaled = {
        "rope_type": "longrope", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 10,
        "short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 4.0, 8.0],
    }  # fmt: skip
    good = tiny("Phi3", rope_parameters=scaled, original_max_position_embeddings=10, **GROUPED)()
    tokens = len(tiny_tokenizer()(TEXT)["input_ids"])
    expected = expected_turns(good.config, [8] * 3, tokens)
    assert differences(measured_turns(good, given(good)), expected, "it", "config") == []
    plain = tiny("Phi3", **GROUPED)()
    found = differences(measured_turns(plain, given(plain)), expected, "it", "config")
    assert found[0].what.startswith("it multiplies queries and keys by 1, config by 1.")
    assert any("a wavelength of" in one.what for one in found)


def test_roformers_own_sinusoids_are_read() -> None:
    shape = {"vocab_size": 25, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2}
    config = RoFormerConfig(**shape, intermediate_size=16, max_position_embeddings=40)
    torch.manual_seed(0)
    result = position_map(RoFormerModel(config).eval(), tiny_tokenizer(), TEXT)
    assert [one.turned for one in result.rotations] == [8, 8]
    assert result.errors.max() < 1e-5


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name: str) -> None:
    build, said = REFUSED[name]
    with pytest.raises(ModelError, match=said):
        position_map(build(), tiny_tokenizer(), TEXT)


def test_rotations_are_asked_of_models_that_turn() -> None:
    with pytest.raises(ModelError, match="turns no queries and keys: its positions are added"):
        measured_turns(tiny_bert(), given(tiny_bert()))
    with pytest.raises(ModelError, match="config of 'esm' says nothing of its rotations"):
        expected_turns(TURNING["esm 2"]().config, [8], 17)


@pytest.mark.parametrize("architecture", ["Llama", "Llama4Text"])
def test_unturning_is_what_a_model_whose_angles_are_zero_does(architecture: str) -> None:
    """Held against the same model with that band's frequencies set to zero in every layer, where it has one layer."""
    config = {**HEADS, "num_hidden_layers": 1}
    model = tiny(architecture, **config)()
    result = unturn(model, tiny_tokenizer(), TEXT)
    with torch.inference_mode():
        own = model(**given(model))[0][0]
        for number, band in enumerate(bands_of(layer_rotation(*unturned_calls(model, given(model))[0]))):
            if not band:
                assert np.isnan(result.values[0, number])
                continue
            other = tiny(architecture, **config)()
            other.rotary_emb.inv_freq[band] = 0
            states = other(**given(other))[0][0]
            expected = 1 - torch.nn.functional.cosine_similarity(own, states, dim=-1).mean()
            assert result.values[0, number] == pytest.approx(float(expected), abs=1e-5)
    assert result.measure == "1 less the cosine of final hidden states"


def test_with_a_head_the_outcome_is_of_predictions_and_the_loss_on_the_text() -> None:
    config = LlamaConfig(
        vocab_size=25, hidden_size=32, num_attention_heads=4, num_hidden_layers=2, intermediate_size=16,
        max_position_embeddings=40,
    )  # fmt: skip
    torch.manual_seed(0)
    model = randomised(LlamaForCausalLM(config))
    result = unturn(model, tiny_tokenizer(), TEXT)
    ids = given(model)["input_ids"]
    with torch.inference_mode():
        assert result.loss == pytest.approx(float(model(ids, labels=ids).loss), abs=1e-4)
    assert "KL divergence" in result.measure
    assert (result.values[~np.isnan(result.values)] >= -1e-6).all()
    assert np.isfinite(result.losses[:, -1]).all()
