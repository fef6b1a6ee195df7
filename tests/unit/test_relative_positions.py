"""What must not change, in every family: distances under a shift, and positions that are dealt out and dealt back.

The references are the models themselves: their own passes, on the same text, on other position ids, or on the tokens
in another order.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from family_specimens import GROUPED, SPECIMENS, UNKNOWN_SHAPE, _tiny, ids, images, randomised
from torch import Tensor
from transformers import Gemma3TextConfig, Gemma3TextModel

from analysis.measurements.interventions import parse
from analysis.measurements.interventions.forward import forward
from analysis.measurements.interventions.kinds.shuffle_positions import ShufflePositions
from analysis.models.families import FAMILIES, Family
from analysis.models.inferred_family import infer_family

MODERN: dict[str, Any] = {"local_attention": 4, "bos_token_id": 2, "eos_token_id": 3}
DISENTANGLED: dict[str, Any] = {"relative_attention": True, "position_biased_input": False}
AWKWARD: dict[str, Callable[[], Any]] = {
    "modernbert whose layers share one kind": _tiny("ModernBert", global_attn_every_n_layers=1, **MODERN),
    "modernbert global last": _tiny("ModernBert", layer_types=["sliding_attention"] * 2 + ["full_attention"], **MODERN),
    "gpt_neox half rotated": _tiny(
        "GPTNeoX", rope_parameters={"rope_theta": 100.0, "partial_rotary_factor": 0.5, "rope_type": "default"}
    ),
    "llama one key for all": _tiny("Llama", **(GROUPED | {"num_key_value_heads": 1})),
    "llama three heads": _tiny("Llama", hidden_size=30, num_attention_heads=3, num_key_value_heads=3, head_dim=10),
    "qwen3 with a window": _tiny(
        "Qwen3", **GROUPED, head_dim=8, use_sliding_window=True, sliding_window=4, max_window_layers=1
    ),
    "deberta c2p alone": _tiny("Deberta", pos_att_type=["c2p"], **DISENTANGLED),
    "deberta p2c alone": _tiny("Deberta", pos_att_type=["p2c"], **DISENTANGLED),
    "deberta near distances alone": _tiny(
        "Deberta", pos_att_type=["c2p", "p2c"], max_relative_positions=3, **DISENTANGLED
    ),
    "deberta-v2 in buckets": _tiny(
        "DebertaV2", pos_att_type=["c2p", "p2c"], position_buckets=4, share_att_key=True, **DISENTANGLED
    ),
    "t5 of few buckets": _tiny(
        "T5Encoder", d_model=32, d_kv=8, d_ff=16, num_layers=3, num_heads=4, relative_attention_num_buckets=4
    ),
}
"""Configs that a family allows and that its specimens lack."""


def _gemma3() -> Any:
    """No family describes it: its rotations are seen. One module, called for local and for global layers."""
    sizes: dict[str, Any] = {
        "head_dim": 8,
        "num_key_value_heads": 2,
        "sliding_window": 4,
        "max_position_embeddings": 40,
    }
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    config = Gemma3TextConfig(**UNKNOWN_SHAPE, **sizes, layer_types=kinds)
    return randomised(Gemma3TextModel._from_config(config, attn_implementation="eager"), 0.2)


TEXTS: dict[str, Callable[[], Any]] = {
    **{name: one.build for name, one in SPECIMENS.items() if one.inputs is None},
    **AWKWARD,
    "gemma3, seen": _gemma3,
}
VALUES_TURN = "roformer rotating values"
"""What its values say is no distance."""
RELATIVE = [
    name
    for name in TEXTS
    if (name not in SPECIMENS or "position" not in SPECIMENS[name].sources) and name != VALUES_TURN
]


@dataclass(frozen=True)
class Dealt(ShufflePositions):
    """Positions dealt out in a given order."""

    to: tuple[int, ...] = ()
    name: ClassVar[str] = "dealt"

    def order(self, length: int) -> list[int]:
        """As given."""
        assert len(self.to) == length
        return list(self.to)


def made(name: str) -> tuple[Any, Family, dict[str, Tensor]]:
    """A model in float64, what it is made of, and one text."""
    model = TEXTS[name]().double()
    if name.startswith("roformer"):  # whose sinusoids are stored among its weights, and were made random
        with torch.no_grad():
            model.encoder.embed_positions.weight.copy_(model.encoder.embed_positions.create_weight())
    inputs = {key: x[:1] for key, x in ids(model).items()}
    known = model.config.model_type in FAMILIES
    return model, FAMILIES[model.config.model_type] if known else infer_family(model, inputs), inputs


def hidden(model: Any, family: Family, inputs: dict[str, Tensor], *chosen: Any) -> Tensor:
    return forward(model, family, inputs, [parse(one) if isinstance(one, str) else one for one in chosen]).hidden


def off(got: Tensor, expected: Tensor) -> float:
    """The largest difference, over the reach of what was expected. Turns are computed in float32."""
    return float((got - expected).abs().max() / expected.abs().max())


NEAR = 1e-4


@pytest.mark.parametrize("name", RELATIVE)
@pytest.mark.parametrize("by", [1, 8])
def test_what_is_relative_does_not_feel_a_shift(name: str, by: int) -> None:
    model, family, inputs = made(name)
    own = hidden(model, family, inputs)
    assert off(hidden(model, family, inputs, f"shift_positions:{by}"), own) < NEAR
    assert off(hidden(model, family, inputs, "shuffle_positions:2"), own) > 10 * NEAR, "positions are there"


@pytest.mark.parametrize("name", TEXTS)
def test_positions_dealt_back_are_the_models_own(name: str) -> None:
    model, family, inputs = made(name)
    order = np.random.default_rng(5).permutation(inputs["input_ids"].shape[1])
    there, back = Dealt(to=tuple(order.tolist())), Dealt(to=tuple(np.argsort(order).tolist()))
    own = hidden(model, family, inputs)
    assert off(hidden(model, family, inputs, there, back), own) < 1e-9
    assert off(hidden(model, family, inputs, there), own) > 10 * NEAR


FREE = [
    name
    for name in TEXTS
    if not (name in SPECIMENS and SPECIMENS[name].causal)
    and not any(name.startswith(kind) for kind in ("modernbert", "llama", "qwen3", "gpt_neox", "gemma3"))
] + ["modernbert whose layers share one kind"]


@pytest.mark.parametrize("name", FREE)
def test_tokens_that_keep_their_positions_may_stand_in_any_order(name: str) -> None:
    """The tokens in another order, each dealt its own position: the same outputs in that order, by the own pass."""
    model, family, inputs = made(name)
    order = np.random.default_rng(6).permutation(inputs["input_ids"].shape[1])
    moved = {key: x[:, order] for key, x in inputs.items()}
    got = hidden(model, family, moved, Dealt(to=tuple(order.tolist())))
    assert off(got, hidden(model, family, inputs)[:, order]) < 1e-6


TAKES_IDS = [
    name for name in TEXTS if name.split()[0].rstrip(",") not in ("addend", "t5", "mt5", "umt5", "bloom", "roformer")
]
"""Whose own pass can be given position ids."""
BIASED = ("mpnet", "deberta", "deberta-v2")
"""Of which position ids move the rows alone."""


@pytest.mark.parametrize("name", TAKES_IDS)
def test_a_move_is_the_models_own_pass_at_other_position_ids(name: str) -> None:
    """Of whatever kind its positions are; where a bias is added too, a shift alone, which leaves distances."""
    model, family, inputs = made(name)
    assert "position_ids" in inspect.signature(model.forward).parameters
    length = inputs["input_ids"].shape[1]
    first = 2 if model.config.model_type in ("roberta", "xlm-roberta", "camembert", "mpnet") else 0
    places = {"shift_positions:3": np.arange(3, length + 3)}
    if model.config.model_type not in BIASED:
        places["shuffle_positions:2"] = np.random.default_rng(2).permutation(length)
        places["one_position:4"] = np.full(length, 4)
    for spec, at in places.items():
        got = hidden(model, family, inputs, spec)
        model.set_attn_implementation("eager")
        with torch.no_grad():
            expected = model(**inputs, position_ids=torch.as_tensor(at + first)[None]).last_hidden_state
        assert off(got, expected) < NEAR, spec


PICTURES = [name for name, one in SPECIMENS.items() if one.inputs is not None]


@pytest.mark.parametrize("name", PICTURES)
def test_positions_of_an_image_dealt_back_are_the_models_own(name: str) -> None:
    model = SPECIMENS[name].build().double()
    inputs = {
        key: x.double() if isinstance(x, Tensor) and x.is_floating_point() else x
        for key, x in (SPECIMENS[name].inputs or images())(model).items()
    }
    family: Any = FAMILIES[model.config.model_type]
    order = np.random.default_rng(5).permutation(len(family.table(model)))
    there, back = Dealt(to=tuple(order.tolist())), Dealt(to=tuple(np.argsort(order).tolist()))
    own = hidden(model, family, inputs)
    assert off(hidden(model, family, inputs, there, back), own) < 1e-9
    assert off(hidden(model, family, inputs, there), own) > 10 * NEAR
