"""Proves that interventions on turns are what they say: transformers' own model with other angles, or none in a layer.

No reference goes through our hooks: a model built with another base, with its frequencies in another order, with a
layer that turns nothing, and scores in float64 from the model's own projections.
"""

import copy
from typing import Any

import numpy as np
import pytest
import torch
from position_families import HEADS, TURNING, tiny
from specimens import TEXT, tiny_bert, tiny_tokenizer

from analysis.core.errors import InterventionError
from analysis.measurements.interventions.forward import check, forward
from analysis.measurements.interventions.kinds import parse
from analysis.measurements.interventions.run import forward_text
from analysis.measurements.terms.run import encode
from analysis.models.families import known_family
from analysis.models.inferred_family import infer_family

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
