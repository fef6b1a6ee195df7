"""Proves that a position map is the model's own scores, split as its definition says, for models that people use.

Held against loops in float64 over queries and keys taken before any turn from the model's own projections, against
transformers' own frequencies, and against models made wrong on purpose.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import GROUPED, SPECIMENS, _tiny as tiny, randomised
from position_families import ADDING, HEADS, LONG, REFUSED, TURNING
from specimens import TEXT, tiny_bert, tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, RoFormerConfig, RoFormerModel

from analysis.core.errors import ModelError
from analysis.core.wavelengths import BANDS, EDGES
from analysis.measurements.positions.conformance import differences, expected_turns, measured_turns
from analysis.measurements.positions.measure import BIAS, STILL, TABLE, _by_bands, bands_of, position_map
from analysis.measurements.positions.remove_rotation import remove_rotation
from analysis.measurements.positions.rotation import Rotation
from analysis.measurements.positions.split import split_bands, split_bias
from analysis.measurements.positions.without_rotation import paired_calls, rotations, unrotated_calls
from analysis.measurements.terms.run import encode
from analysis.models.capture import run_with_listener
from analysis.models.families import known_family
from analysis.models.load import Loaded
from analysis.models.trace_sources import Layer, LayerListener, trace_sources


def given(model: Any) -> Any:
    return encode(tiny_tokenizer(), TEXT, None, model, False)[0]


def family(model: Any) -> Any:
    return known_family({"model_type": model.config.model_type}, "it")


def shares_of(fields: Any) -> np.ndarray:
    attends = fields["power"].sum(-1) > 0
    return fields["numerators"].sum(-1)[attends] / fields["power"].sum(-1)[attends, None, None]


def unasked(model: Any) -> list[Layer]:
    layers: list[Layer] = []
    if known := family(model):
        trace_sources(model, known, given(model), layers.append, sources=False)
    else:
        with torch.inference_mode():
            run_with_listener(model, given(model), LayerListener(layers.append))
    return layers


@pytest.mark.parametrize("name", TURNING)
def test_bands_add_up_to_the_models_own_scores_and_shares_to_one(name: str) -> None:
    model = TURNING[name]()
    result = position_map(Loaded.of(model, tiny_tokenizer()), TEXT)
    attends = [layer for layer, one in enumerate(result.rotations) if one.width]
    assert result.errors.max() < 1e-5
    np.testing.assert_allclose(result.shares().sum((1, 2))[attends], 1, atol=1e-4)
    by_head = result.numerators[attends].sum((1, 2)) / result.power[attends]
    np.testing.assert_allclose(by_head, 1, atol=1e-4)
    assert len(attends) == (1 if name in ("qwen 3 next", "qwen 3.5") else len(result.power))
    assert max(one.error for one in result.rotations) < 1e-4
    assert result.kernels is not None
    assert result.kernels.shape[:2] == (len(result.power), len(BANDS) + 1)
    assert result.kernels.shape[-1] == 2 * result.tokens - 1


@pytest.mark.parametrize("name", TURNING)
def test_asking_again_changes_nothing_in_the_pass(name: str) -> None:
    """Every layer's scores, while each attention is asked twice, are those of transformers' own queries and keys."""
    model = TURNING[name]()
    before = [layer.call.scores for layer in unasked(model)]
    after = [asked.call.scores for asked in paired_calls(model, family(model), given(model)) if asked]
    assert len(before) == len(after)
    for one, other in zip(before, after, strict=True):
        torch.testing.assert_close(one, other)


BOTH_WAYS = ("modernbert", "addend rotary", "nomic-bert", "eurobert", "esm 2")
"""Encoders, whose queries at padding attend to words, too, and so have a part in the shares."""


@pytest.mark.parametrize("name", [name for name in TURNING if name not in ("llama, dynamic", "phi 3, longrope")])
def test_padding_on_the_left_changes_no_share_of_a_decoder(name: str) -> None:
    """Turns know distances alone; the two left out turn otherwise on longer inputs. Every model's sums hold."""
    model = TURNING[name]()
    inputs = {key: value for key, value in given(model).items() if key != "token_type_ids"}
    padded = {key: torch.cat([torch.zeros(1, 3, dtype=torch.long), value], 1) for key, value in inputs.items()}
    own, other = (_by_bands(paired_calls(model, family(model), one), name).keywords for one in (inputs, padded))
    assert other["errors"].max() < 1e-5
    if name not in BOTH_WAYS:
        np.testing.assert_allclose(shares_of(own), shares_of(other), atol=2e-4)


@pytest.mark.parametrize("name", ADDING)
def test_what_is_added_is_told_by_terms_that_add_up(name: str) -> None:
    result = position_map(Loaded.of(ADDING[name](), tiny_tokenizer()), TEXT)
    assert result.errors.max() < 1e-5
    np.testing.assert_allclose(result.shares().sum((1, 2)), 1, atol=1e-4)
    assert np.abs(result.position_share()).max() > 1e-4


@pytest.mark.parametrize("name", [name for name in TURNING if name not in ("addend rotary", "esm 2")])
def test_a_model_turns_what_its_config_says(name: str) -> None:
    model = TURNING[name]()
    turns = measured_turns(model, given(model))
    tokens = len(tiny_tokenizer()(TEXT)["input_ids"])
    assert differences(turns, expected_turns(model.config, [one.width for one in turns], tokens), "it", "config") == []


def test_a_layer_without_positions_turns_nothing_and_owes_nothing_to_position() -> None:
    result = position_map(Loaded.of(TURNING["smollm 3, a layer without"](), tiny_tokenizer()), TEXT)
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
    result = position_map(Loaded.of(model, tiny_tokenizer()), TEXT)
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
    bands = bands_of(rotations(unrotated_calls(model, given(model)))[1])

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
        result = position_map(Loaded.of(SPECIMENS[name].build(), tiny_tokenizer()), TEXT)
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
    result = position_map(Loaded.of(tiny_bert(), tiny_tokenizer()), TEXT)
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
    assert found[0].what == "it rotates 8 of 8 dimensions, config 2 of 8"


def test_a_layer_that_should_have_none_is_found() -> None:
    model = tiny("SmolLM3", **HEADS, no_rope_layers=[1, 1, 1])()
    model.config.no_rope_layers = [1, 0, 1]
    found = differences(measured_turns(model, given(model)), expected_turns(model.config, [8] * 3, 17), "it", "config")
    assert [(one.layer, one.what) for one in found] == [(1, "it rotates 8 of 8 dimensions, config 0 of 8")]


def test_a_longrope_factor_left_out_is_found() -> None:
    good = tiny("Phi3", rope_parameters=LONG, original_max_position_embeddings=10, **GROUPED)()
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
    result = position_map(Loaded.of(RoFormerModel(config).eval(), tiny_tokenizer()), TEXT)
    assert [one.turned for one in result.rotations] == [8, 8]
    assert result.errors.max() < 1e-5


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_refused(name: str) -> None:
    build, said = REFUSED[name]
    with pytest.raises(ModelError, match=said):
        position_map(Loaded.of(build(), tiny_tokenizer()), TEXT)


def test_rotations_are_asked_of_models_that_turn() -> None:
    with pytest.raises(ModelError, match="does not rotate queries and keys: its positions are added"):
        measured_turns(tiny_bert(), given(tiny_bert()))
    with pytest.raises(ModelError, match="config of 'esm' says nothing about its rotations"):
        expected_turns(TURNING["esm 2"]().config, [8], 17)


@pytest.mark.parametrize("architecture", ["Llama", "Llama4Text"])
def test_unturning_is_what_a_model_whose_angles_are_zero_does(architecture: str) -> None:
    """Held against the same model with that band's frequencies set to zero in every layer, where it has one layer."""
    config = {**HEADS, "num_hidden_layers": 1}
    model = tiny(architecture, **config)()
    result = remove_rotation(Loaded.of(model, tiny_tokenizer()), TEXT)
    with torch.inference_mode():
        own = model(**given(model))[0][0]
        for number, band in enumerate(bands_of(rotations(unrotated_calls(model, given(model)))[0])):
            if not band:
                assert np.isnan(result.values[0, number])
                continue
            other = tiny(architecture, **config)()
            other.rotary_emb.inv_freq[band] = 0
            states = other(**given(other))[0][0]
            expected = 1 - torch.nn.functional.cosine_similarity(own, states, dim=-1).mean()
            assert result.values[0, number] == pytest.approx(float(expected), abs=1e-5)
    assert result.measure == "1 minus the cosine of final hidden states"


def test_with_a_head_the_outcome_is_of_predictions_and_the_loss_on_the_text() -> None:
    config = LlamaConfig(
        vocab_size=25, hidden_size=32, num_attention_heads=4, num_hidden_layers=2, intermediate_size=16,
        max_position_embeddings=40,
    )  # fmt: skip
    torch.manual_seed(0)
    model = randomised(LlamaForCausalLM(config))
    result = remove_rotation(Loaded.of(model, tiny_tokenizer()), TEXT)
    ids = given(model)["input_ids"]
    with torch.inference_mode():
        assert result.loss == pytest.approx(float(model(ids, labels=ids).loss), abs=1e-4)
    assert "KL divergence" in result.measure
    assert (result.values[~np.isnan(result.values)] >= -1e-6).all()
    assert np.isfinite(result.losses[:, -1]).all()
