"""Proves that interventions on turns are what they say: transformers' own model with other angles, or none in a layer.

No reference goes through our hooks: a model built with another base, with its frequencies in another order, with a
layer that turns nothing, and scores in float64 from the model's own projections.
"""

import copy
from collections.abc import Callable
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pytest
import torch
from position_families import HEADS, TURNING, tiny
from rotary_architectures import architectures
from specimens import TEXT, tiny_bert, tiny_tokenizer

from analysis.core.errors import InterventionError
from analysis.core.wavelengths import BANDS
from analysis.measurements.interventions.forward import check, forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.run import forward_text
from analysis.measurements.terms.run import encode
from analysis.models.capture import run_with_listener
from analysis.models.families import known_family
from analysis.models.inferred_family import infer_family
from analysis.models.patterns import attention_layers
from analysis.models.trace_sources import LayerListener

LLAMA = tiny("Llama", **HEADS)
NAMES = ("llama", "mistral", "qwen3", "phi", "modernbert", "addend rotary", "gemma 3", "olmo 2", "eurobert")
BY_LAYER = tuple(name for name in NAMES if name != "addend rotary")


def given(model: Any) -> Any:
    return encode(tiny_tokenizer(), TEXT, None, model, False)[0]


def family(model: Any) -> Any:
    return known_family({"model_type": model.config.model_type}, "it") or infer_family(model, given(model))


def output(model: Any, *specs: str) -> torch.Tensor:
    chosen = [parse(spec) for spec in specs]
    check(model, family(model), chosen, biased=False, name="it")
    return forward(model, family(model), given(model), chosen).hidden


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool(torch.allclose(one, other, rtol=0, atol=2e-5 * float(other.abs().max())))


@pytest.mark.parametrize("name", NAMES)
def test_turning_all_by_one_angle_and_scaling_by_one_and_swapping_twice_change_nothing(name: str) -> None:
    model = TURNING[name]()
    own = output(model)
    for specs in (["turn_all:2"], ["scale_base:1"], ["swap_bands:0+4", "swap_bands:0+4"]):
        assert alike(output(model, *specs), own), specs
    for specs in (["scale_base:30"], ["swap_bands:0+4"]):
        assert not alike(output(model, *specs), own), specs


@pytest.mark.parametrize("kind", ["Llama", "GPTNeoX", "Qwen3", "EuroBert"])
def test_another_base_is_the_model_built_with_it(kind: str) -> None:
    def built(base: float) -> Any:
        shape = {} if kind == "GPTNeoX" else HEADS
        rope = {"rope_type": "default", "rope_theta": base}
        return tiny(
            kind, rope_parameters=rope | ({"partial_rotary_factor": 0.5} if kind == "GPTNeoX" else {}), **shape
        )()

    got = output(built(1e4), "scale_base:5")
    assert alike(got, built(5e4)(**given(built(1e4))).last_hidden_state)
    assert not alike(got, output(built(1e4)))


def test_swapped_bands_are_the_model_with_its_frequencies_in_another_order() -> None:
    model, other = LLAMA(), LLAMA()
    waves = 2 * np.pi / model.rotary_emb.inv_freq
    assert [int(wave) for wave in waves] == [6, 62, 628, 6283]
    other.rotary_emb.inv_freq = model.rotary_emb.inv_freq[[2, 1, 0, 3]]
    with torch.inference_mode():
        assert alike(output(model, "swap_bands:0+4"), other(**given(model)).last_hidden_state)


@pytest.mark.parametrize("layer", [0, 1, 2])
def test_positions_dropped_in_a_layer_are_the_model_that_has_none_there(layer: int) -> None:
    """SmolLM3's config says which layers turn; weights are the same."""
    everywhere, without = (
        tiny("SmolLM3", **HEADS, no_rope_layers=[int(i != skipped) for i in range(3)])() for skipped in (-1, layer)
    )
    with torch.inference_mode():
        expected = without(**given(without)).last_hidden_state
    got = output(everywhere, f"drop_positions:{layer}")
    assert alike(got, expected)
    assert not alike(got, output(everywhere))


@pytest.mark.parametrize("name", BY_LAYER)
def test_positions_dropped_everywhere_and_a_distance_of_zero_are_no_positions(name: str) -> None:
    model = TURNING[name]()
    zero = output(model, "zero_positions")
    assert alike(output(model, "drop_positions"), zero)
    assert alike(output(model, "freeze_distance:0"), zero)
    assert not alike(output(model, "freeze_distance:3"), zero)


def test_a_frozen_distance_scores_every_key_from_there() -> None:
    """Layer 0 in float64, from the projections, before any turn: each pair of dimensions as at that distance."""
    model = LLAMA().double()
    projected: dict[str, torch.Tensor] = {}
    attention = model.layers[0].self_attn
    for side in ("q", "k"):
        getattr(attention, f"{side}_proj").register_forward_hook(
            lambda _m, _a, out, side=side: projected.update({side: out[0].detach()})
        )
    patterns = {
        far: forward_text(model, family(model), given(model), [parse(f"freeze_distance:{far}")]) for far in (5, 90)
    }
    tokens = len(projected["q"])
    q, k = (projected[side].view(tokens, -1, 8).numpy() for side in ("q", "k"))
    frequency = model.rotary_emb.inv_freq.double().numpy()
    for far, got in patterns.items():
        for head in range(4):
            query = q[:, head, :4] + 1j * q[:, head, 4:]
            key = k[:, head // 2, :4] + 1j * k[:, head // 2, 4:]
            scores = ((query * np.exp(1j * far * frequency)) @ key.conj().T).real / 8**0.5
            expected = torch.from_numpy(np.where(np.tril(np.ones_like(scores)) > 0, scores, -np.inf)).softmax(-1)
            torch.testing.assert_close(got.patterns[0][head].double(), expected, rtol=0, atol=1e-5)


def test_the_model_is_as_before_afterwards() -> None:
    model = LLAMA()
    own, weights = output(model), copy.deepcopy(model.state_dict())
    output(model, "freeze_distance:2", "turn_all:1")
    torch.testing.assert_close(output(model), own, rtol=0, atol=0)
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, weights[name])


@pytest.mark.parametrize(
    ("name", "spec", "said"),
    [
        (
            "bert",
            "turn_all",
            "acts on positions that rotate its queries and keys, and this model has positions that are",
        ),
        ("bert", "freeze_distance", "by which every layer is told to rotate"),
        ("addend rotary", "drop_positions", "by which every layer is told to rotate"),
        ("gemma 4, keys shared", "freeze_distance", "by which every layer is told to rotate"),
        ("llama", "drop_positions:3", "There is no layer 3: it has layers 0 to 2"),
    ],
)
def test_what_makes_no_sense_is_said(name: str, spec: str, said: str) -> None:
    model = tiny_bert() if name == "bert" else TURNING[name]()
    with pytest.raises(InterventionError, match=said):
        output(model, spec)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("turn_all:nan", "cannot be rotated by nan|rotated by nan radians"),
        ("scale_base:0", "cannot be multiplied by 0"),
        ("swap_bands:1+9", "'1\\+9' cannot be swapped; expected two numbers from 0 to 6"),
        ("drop_positions:-2", "There is no layer -2"),
        ("freeze_distance:-1", "No key stands -1 tokens before"),
    ],
)
def test_a_strength_that_cannot_be_is_said(spec: str, said: str) -> None:
    with pytest.raises(InterventionError, match=said):
        parse(spec)


NOT_SEEN = {"deepseek_v4", "diffllama", "falcon", "gpt_neox_japanese", "granitemoehybrid", "recurrent_gemma"}
"""Architectures whose rotations are not seen, as `test_conformance` says why."""


def hybrid(model: Any) -> bool:
    """Whether some layers have no attention, which interventions refuse."""
    return not all(attention_layers(model.config))


def turning_architectures() -> dict[str, Any]:
    return {name: model for name, model in architectures().items() if name not in NOT_SEEN and not hybrid(model)}


@cache
def family_at(name: str) -> Any:
    return family(architectures()[name])


def changed_output(name: str, model: Any, *specs: str) -> torch.Tensor:
    chosen = [parse(spec) for spec in specs]
    check(model, family_at(name), chosen, biased=False, name=name)
    return forward(model, family_at(name), given(model), chosen).hidden


def own_output(model: Any) -> torch.Tensor:
    with torch.inference_mode():
        made = model(**given(model))
    return made.last_hidden_state


def far(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).abs().max() / other.abs().max())


def with_base(model: Any, by: float) -> Any:
    """The model built anew, every base of its config so many times as large."""
    config = copy.deepcopy(model.config)
    for each in (config.rope_parameters, *config.rope_parameters.values()):
        if isinstance(each, dict) and each.get("rope_theta"):
            each["rope_theta"] *= by
    if getattr(config, "layer_rope_theta", None):
        config.layer_rope_theta = [base * by for base in config.layer_rope_theta]
    other = type(model)._from_config(config, attn_implementation="eager").eval()
    other.load_state_dict(model.state_dict())
    return other


def with_frequencies(model: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """The model with other frequencies in all of its tables; None where its code makes them anew at every pass."""
    other = copy.deepcopy(model)
    tables = [name for name, _ in other.named_buffers() if name.endswith("inv_freq")]
    for name in tables:
        module = other.get_submodule(name.rpartition(".")[0])
        setattr(module, name.rpartition(".")[2], change(other.get_buffer(name)))
    return other


MADE_ANEW = {"phimoe"}
"""Architectures whose tables are made from the config at every pass, so that no reference can change them."""
TEMPERED = {"mistral_large4_text"}
"""Architectures that scale queries by their positions, too, which the reference of a frozen distance changes."""
WITH_LOGITS = {"higgs_audio_v2"}
"""Architectures whose base model gives no hidden states."""


def test_another_base_is_every_architecture_built_with_it() -> None:
    """YaRN, Llama 3 and proportional ones among them. Deep loops amplify rounding: half a percent of the effect."""
    off, compared = {}, 0
    for name, model in turning_architectures().items():
        if name in WITH_LOGITS:
            continue
        expected, own = own_output(with_base(model, 5)), own_output(model)
        error, effect = far(changed_output(name, model, "scale_base:5"), expected), far(own, expected)
        compared += 1
        if error > max(2e-5, 5e-3 * effect):
            off[name] = (error, effect)
    assert off == {}
    assert compared >= 90


LARGER_ROUNDING = {"hrm_text": 1e-3}
"""The error of an architecture that goes through its layers again and again, and so multiplies the rounding of its
angles, which are float32 in any model: 3e-4 on some processors. Its own angles, unchanged, would be off by far more."""


def test_zero_and_a_distance_of_zero_are_every_architecture_without_angles() -> None:
    off, compared = {}, 0
    for name, model in turning_architectures().items():
        if name in WITH_LOGITS | MADE_ANEW:
            continue
        expected = own_output(with_frequencies(model, torch.zeros_like))
        specs = ["zero_positions"]
        if getattr(model.config.get_text_config(), "num_kv_shared_layers", 0) == 0:
            specs.append("freeze_distance:0")
        compared += 1
        for spec in specs:
            if (error := far(changed_output(name, model, spec), expected)) > LARGER_ROUNDING.get(name, 1e-4):
                off[name, spec] = error
    assert off == {}
    assert compared >= 90


def test_swapped_bands_are_every_architecture_with_its_frequencies_in_another_order() -> None:
    """The reference sorts by wavelength itself: what turns within 8 tokens changes places with 32 to 128."""

    def swapped(frequencies: torch.Tensor) -> torch.Tensor:
        waves = 2 * np.pi / frequencies.double().clamp(min=1e-30)
        fast, slow = (((waves >= a) & (waves < b)).nonzero().flatten() for a, b in ((0, 8), (32, 128)))
        order = torch.arange(len(frequencies))
        for one, other in zip(fast, slow, strict=False):
            order[one], order[other] = other, one
        return frequencies[order]

    assert (BANDS[0], BANDS[2]) == ("under 8", "32 to 128")
    off, compared = {}, 0
    for name, model in turning_architectures().items():
        if name in WITH_LOGITS | MADE_ANEW:
            continue
        expected, own = own_output(with_frequencies(model, swapped)), own_output(model)
        error, effect = far(changed_output(name, model, "swap_bands:0+2"), expected), far(own, expected)
        compared += effect > 0
        if error > max(2e-5, 5e-3 * effect):
            off[name] = (error, effect)
    assert off == {}
    assert compared >= 60


def test_a_frozen_distance_is_every_architectures_own_queries_there() -> None:
    """Layer 0: the model's queries with all tokens at position 3, against its keys with all at position 0."""
    off, compared = {}, 0
    for name, model in turning_architectures().items():
        takes = signature(model.forward).parameters
        if "position_ids" not in takes or getattr(model.config.get_text_config(), "num_kv_shared_layers", 0):
            continue
        rope = model.config.get_text_config().rope_parameters
        if name in TEMPERED or any(kind in str(rope) for kind in ("dynamic", "longrope")):
            continue
        at_three, at_zero, own = (first_call(model, place) for place in (3, 0, None))
        if own.sink or own.capped:  # whose patterns are more than a softmax of scores
            continue
        scores = at_three.query[0] @ at_zero.key[0].mT * own.scale
        expected = (scores if own.mask is None else scores + own.mask[0]).softmax(-1)
        got = forward_text(model, family_at(name), given(model), [parse("freeze_distance:3")]).patterns[0]
        compared += 1
        if (error := float((got - expected).abs().max())) > 1e-4:
            off[name] = error
    assert off == {}
    assert compared >= 80


def first_call(model: Any, place: int | None) -> Any:
    """The first attention's call, with all tokens at one position; None for those that they have."""
    calls: list[Any] = []
    inputs = given(model)
    if place is not None:
        inputs = {**inputs, "position_ids": torch.full_like(inputs["input_ids"], place)}
    with torch.inference_mode():
        run_with_listener(model, inputs, LayerListener(lambda layer: calls.append(layer.call)))
    return calls[0]
