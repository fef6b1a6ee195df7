"""Proves that the conformance check finds what is wrong with rotations, names it, and is silent where nothing is.

Honest models are transformers' own, of every text architecture that it has. Faults are planted in transformers' code,
in tables, in configs and in config.json: what the check says has to name the side and the cause.
"""

import copy
import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from family_specimens import randomised
from position_families import HEADS, LOCAL, LONG, tiny
from rotary_architectures import SCALED, architectures, with_parameters
from specimens import TEXT, tiny_tokenizer
from typer.testing import CliRunner

from analysis.commands import app
from analysis.core.errors import ModelError
from analysis.measurements.positions.check import check
from analysis.measurements.positions.config_keys import unread_keys
from analysis.measurements.positions.conformance import Discrepancy, differences, expected_turns, measured_turns
from analysis.measurements.positions.measure import position_map
from analysis.measurements.positions.shift_test import shift_test
from analysis.measurements.terms.run import encode
from analysis.models.load import Loaded
from analysis.models.source import Source

Patch = pytest.MonkeyPatch
UNSEEN = {
    "deepseek_v4": "is given its angles as dict",
    "diffllama": "calls transformers' attention interface 8 times",
    "falcon": "calls transformers' attention interface 0 times",
    "gpt_neox_japanese": "calls transformers' attention interface 0 times",
    "granitemoehybrid": "no cosine and sine that can be seen",
    "recurrent_gemma": "no cosine and sine that can be seen",
}
"""Architectures whose rotations are not seen, with what a reader is told. All others are to be checked."""


def given(model: Any) -> Any:
    return encode(tiny_tokenizer(), TEXT, None, model, False)[0]


def conformance(model: Any) -> list[Discrepancy]:
    inputs, tokens, _ = encode(tiny_tokenizer(), TEXT, None, model, False)
    turns = measured_turns(model, inputs)
    return differences(turns, expected_turns(model.config, [turn.width for turn in turns], len(tokens)), "it", "config")


def against(one: Any, other: Any) -> list[Discrepancy]:
    return differences(measured_turns(one, given(one)), measured_turns(other, given(other)), "it", "the other")


def loaded(model: Any, **config: Any) -> Loaded:
    """As if from a folder whose config.json also says something else; a value of None removes a key."""
    raw = json.loads(model.config.to_json_string(use_diff=False)) | config
    raw = {key: value for key, value in raw.items() if value is not None}
    return Loaded(model, tiny_tokenizer(), Source("it", "r1", Path(), raw), "cpu")


def test_no_honest_architecture_is_called_different() -> None:
    """Its code, its config.json as it is saved, and what it does when its tokens are moved."""
    found, refused, checked = {}, {}, 0
    for name, model in architectures().items():
        try:
            made = check(loaded(model), TEXT)
        except ModelError as error:
            refused[name] = str(error)
            continue
        checked += 1
        if made.differences or not made.against:
            found[name] = made.differences or made.nothing_because
    assert found == {}
    assert checked >= 100
    assert set(refused) <= set(UNSEEN)
    for name, said in refused.items():
        assert UNSEEN[name] in said


def test_no_honest_scaling_is_called_different() -> None:
    """Each architecture with one of the scalings that it takes."""
    found, checked = {}, 0
    for number, (name, model) in enumerate(architectures().items()):
        other = None if name in UNSEEN else with_parameters(model, number % len(SCALED))
        if other is None:
            continue
        checked += 1
        if differing := conformance(other):
            found[name, number % len(SCALED)] = differing
    assert found == {}
    assert checked >= 60


HONEST: dict[str, Callable[[], Any]] = {
    "exaone 4 without a window": tiny("Exaone4", **HEADS, sliding_window=None, layer_types=["full_attention"] * 3),
    "exaone 4 with one": tiny("Exaone4", **HEADS, **LOCAL),
    "cohere 2": tiny("Cohere2", **HEADS, **LOCAL),
    "afmoe": tiny("Afmoe", **HEADS, **LOCAL, num_dense_layers=3),
    "llama 4": tiny("Llama4Text", **HEADS, no_rope_layers=[1, 0, 1]),
    "smollm 3": tiny("SmolLM3", **HEADS, no_rope_layers=[0, 0, 1]),
    "granite, a base for each layer": tiny("GraniteSWA", **HEADS, layer_rope_theta=[1e4, 0, 1e5]),
    "gemma 4, half of the pairs": tiny(
        "Gemma4Text", **HEADS, **LOCAL, global_head_dim=16, hidden_size_per_layer_input=8,
        vocab_size_per_layer_input=25, rope_parameters={
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            "full_attention": {"rope_type": "proportional", "rope_theta": 1e6, "partial_rotary_factor": 0.5},
        },
    ),
    "phi, three quarters": tiny("Phi", head_dim=8, partial_rotary_factor=0.75),
    "nemotron, half": tiny("Nemotron", **HEADS, partial_rotary_factor=0.5),
    "phi 3, longrope": tiny("Phi3", rope_parameters=LONG, original_max_position_embeddings=10, **HEADS),
}  # fmt: skip
"""Settings by which layers or dimensions are left unturned, as the models' own attributes say."""


@pytest.mark.parametrize("name", HONEST)
def test_what_a_models_own_attributes_leave_unturned_is_no_difference(name: str) -> None:
    assert conformance(HONEST[name]()) == []


LLAMA = tiny("Llama", **HEADS)
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 1e4, "original_max_position_embeddings": 16}
LLAMA_3 = {"rope_type": "llama3", "rope_theta": 1e4, **{key: SCALED[3][key] for key in SCALED[3] if key != "rope_type"}}


def code(name: str) -> Any:
    """The module of transformers in which an architecture is written."""
    return import_module(f"transformers.models.{name}.modeling_{name}")


def neighbours(x: torch.Tensor) -> torch.Tensor:
    return torch.stack((-x[..., 1::2], x[..., ::2]), -1).flatten(-2)


def halves(x: torch.Tensor) -> torch.Tensor:
    return torch.cat((-x[..., x.shape[-1] // 2 :], x[..., : x.shape[-1] // 2]), -1)


def applied(name: str, change: Callable[..., tuple[Any, Any]]) -> Callable[[Any, Patch], None]:
    """A plant that changes what is made of queries, keys, cosines and sines."""

    def plant(_model: Any, patch: Patch) -> None:
        own = code(name).apply_rotary_pos_emb
        patch.setattr(code(name), "apply_rotary_pos_emb", lambda q, k, c, s, *_, **__: change(own, q, k, c, s))

    return plant


def in_neighbours(_own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
    c, s = (x[..., : x.shape[-1] // 2].repeat_interleave(2, -1).unsqueeze(1) for x in (c, s))
    return q * c + neighbours(q) * s, k * c + neighbours(k) * s


def one_head_still(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
    turned, keys = own(q, k, c, s)
    return torch.cat([turned[:, :1], q[:, 1:2], turned[:, 2:]], 1), keys


def last_dims(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
    c, s = (torch.cat([x[..., :2], x[..., 4:6]], -1) for x in (c, s))
    a, b = own(q[..., 4:], k[..., 4:], c, s)
    return torch.cat([q[..., :4], a], -1), torch.cat([k[..., :4], b], -1)


def first_dims(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
    c, s = (torch.cat([x[..., :2], x[..., 4:6]], -1) for x in (c, s))
    a, b = own(q[..., :4], k[..., :4], c, s)
    return torch.cat([a, q[..., 4:]], -1), torch.cat([b, k[..., 4:]], -1)


def frequencies(change: Callable[[Any], Any]) -> Callable[[Any, Patch], None]:
    """A plant that changes the table's frequencies."""

    def plant(model: Any, _patch: Patch) -> None:
        model.rotary_emb.inv_freq = change(model.rotary_emb.inv_freq)

    return plant


def table(change: Callable[[Any, Any], tuple[Any, Any]]) -> Callable[[Any, Patch], None]:
    """A plant that changes the cosines and sines that all layers are given."""

    def plant(model: Any, _patch: Patch) -> None:
        model.rotary_emb.register_forward_hook(lambda _m, _a, output: change(*output))

    return plant


def places(change: Callable[[Any], Any]) -> Callable[[Any, Patch], None]:
    """A plant that changes the positions of which the table is made."""

    def plant(model: Any, _patch: Patch) -> None:
        own = model.rotary_emb.forward
        model.rotary_emb.forward = lambda x, position_ids: own(x, change(position_ids))

    return plant


def of_layer(number: int, **attributes: Any) -> Callable[[Any, Patch], None]:
    """A plant that sets attributes of one layer's attention."""

    def plant(model: Any, _patch: Patch) -> None:
        for name, value in attributes.items():
            setattr(model.layers[number].self_attn, name, value)

    return plant


def configured(**fields: Any) -> Callable[[Any, Patch], None]:
    """A plant in the config, after the model was made."""

    def plant(model: Any, _patch: Patch) -> None:
        for name, value in fields.items():
            if isinstance(value, dict):
                model.config.rope_parameters = {**model.config.rope_parameters, **value}
            else:
                setattr(model.config, name, value)

    return plant


def rolled(by: int) -> Callable[..., tuple[Any, Any]]:
    def change(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
        return own(q, k, c, s)[0], own(q, k, c.roll(-by, -2), s.roll(-by, -2))[1]

    return change


def other_base(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
    """Keys whose slow pairs turn twice as fast as those of the queries."""
    angle = s.atan2(c) * torch.tensor([1.0, 2, 2, 2] * 2)
    return own(q, k, c, s)[0], own(q, k, angle.cos(), angle.sin())[1]


def swapped_method(name: str, kind: str, attribute: str, value: Any) -> Callable[[Any, Patch], None]:
    """A plant that replaces a function of an architecture's code, or of a class in it."""

    def plant(_model: Any, patch: Patch) -> None:
        patch.setattr(getattr(code(name), kind) if kind else code(name), attribute, value)

    return plant


def conjugate_tables(model: Any, _patch: Patch) -> None:
    model.rotary_emb.register_forward_hook(lambda _m, _a, output: output.conj())


def complex_keys_still(_model: Any, patch: Patch) -> None:
    own = code("llama4").apply_rotary_emb
    patch.setattr(code("llama4"), "apply_rotary_emb", lambda q, k, f: (own(q, k, f)[0], k))


def plain_interleave(_model: Any, patch: Patch) -> None:
    own = code("deepseek_v3").apply_rotary_pos_emb
    patch.setattr(code("deepseek_v3"), "apply_rotary_pos_emb_interleave", own)


def subclassed(model: Any, _patch: Patch) -> None:
    """An attention of a class of somebody's own, whose forward turns by neighbours."""
    kind = type(model.layers[1].self_attn)

    class Attention(kind):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            cos, sin = kwargs["position_embeddings"]
            return super().forward(*args, **{**kwargs, "position_embeddings": (cos, -sin)})

    model.layers[1].self_attn.__class__ = Attention


BY_CONTENT = tiny("Gemma3Text", **HEADS, **LOCAL)
FAULTS: dict[str, tuple[Callable[[], Any], Callable[[Any, Patch], None], str]] = {
    "neighbours in place of halves": (LLAMA, applied("llama", in_neighbours), "halves against neighbours"),
    "transposed": (LLAMA, applied("llama", lambda f, q, k, c, s: f(q, k, c, -s)), "direction is transposed"),
    "keys transposed": (
        LLAMA, applied("llama", lambda f, q, k, c, s: (f(q, k, c, s)[0], f(q, k, c, -s)[1])), "opposite directions"),
    "keys not turned": (
        LLAMA, applied("llama", lambda f, q, k, c, s: (f(q, k, c, s)[0], k)), "does not turn its keys"),
    "queries not turned": (
        LLAMA, applied("llama", lambda f, q, k, c, s: (q, f(q, k, c, s)[1])), "does not turn its queries"),
    "keys a token further": (LLAMA, applied("llama", rolled(1)), "angles of the 1 token after"),
    "keys two tokens back": (LLAMA, applied("llama", rolled(-2)), "angles of the 2 tokens before"),
    "keys in neighbours": (
        LLAMA, applied("llama", lambda f, q, k, c, s: (f(q, k, c, s)[0], in_neighbours(f, q, k, c, s)[1])),
        "halves against neighbours"),
    "keys at another base": (LLAMA, applied("llama", other_base), "keys"),
    "nothing turned": (LLAMA, applied("llama", lambda _f, q, k, _c, _s: (q, k)), "rotates 0 of 8"),
    "a head not turned": (LLAMA, applied("llama", one_head_still), "queries"),
    "half of the dimensions": (LLAMA, applied("llama", first_dims), "rotates 4 of 8"),
    "the last dimensions": (LLAMA, applied("llama", last_dims), "rotates 4 of 8"),
    "one side alone doubled": (
        LLAMA, applied("llama", lambda f, q, k, c, s: (f(*f(q, k, c, s), c, s)[0], f(q, k, c, s)[1])), "queries"),
    "no minus sign": (LLAMA, swapped_method("llama", "", "rotate_half", lambda x: -halves(x).abs()), "queries"),
    "reflected": (
        LLAMA, swapped_method("llama", "", "rotate_half", lambda x: torch.cat(x.chunk(2, -1)[::-1], -1)), "queries"),
    "another base": (
        LLAMA, frequencies(lambda f: 1 / 5e5 ** (torch.arange(0, 8, 2) / 8)), "the base is 500,000, not 10,000"),
    "a factor": (LLAMA, frequencies(lambda f: f / 4), "all frequencies are 0.25 times as large"),
    "order reversed": (LLAMA, frequencies(lambda f: f.flip(0)), "order of frequencies"),
    "two pairs swapped": (LLAMA, frequencies(lambda f: f[[0, 2, 1, 3]]), "order of frequencies"),
    "a pair at rest": (LLAMA, frequencies(lambda f: f * torch.tensor([1, 1, 1, 0])), "rotates 6 of 8"),
    "one pair faster": (LLAMA, frequencies(lambda f: f * torch.tensor([1, 1, 3, 1])), "a wavelength of"),
    "sines negated in the table": (LLAMA, table(lambda c, s: (c, -s)), "direction is transposed"),
    "an attention factor": (LLAMA, table(lambda c, s: (c * 1.1, s * 1.1)), "multiplies queries and keys by 1.1"),
    "angles in half precision": (
        LLAMA, table(lambda c, s: ((a := s.atan2(c).bfloat16().float()).cos(), a.sin())), "grow evenly"),
    "positions that stop": (LLAMA, places(lambda p: p.clamp(max=8)), "grow evenly"),
    "positions that begin again": (LLAMA, places(lambda p: p % 8), "grow evenly"),
    "positions stretched": (LLAMA, places(lambda p: p * 2), "2 times as large"),
    "yarn's frequencies ignored": (
        tiny("Llama", rope_parameters=YARN, **HEADS),
        frequencies(lambda f: 1 / 1e4 ** (torch.arange(0, 8, 2) / 8)), "scaling that the config asks for is not"),
    "yarn's factor ignored": (
        tiny("Llama", rope_parameters=YARN, **HEADS), table(lambda c, s: (c / c[0, 0, 0], s / c[0, 0, 0])), "by 1, "),
    "llama 3's scaling ignored": (
        tiny("Llama", rope_parameters=LLAMA_3, **HEADS),
        frequencies(lambda f: 1 / 1e4 ** (torch.arange(0, 8, 2) / 8)), "scaling that the config asks for is not"),
    "a share that the code ignores": (LLAMA, configured(rope_parameters={"partial_rotary_factor": 0.5}), "8 of 8"),
    "a layer that should have none": (
        tiny("SmolLM3", **HEADS, no_rope_layers=[1, 1, 1]), configured(no_rope_layers=[1, 0, 1]), "rotates 8 of 8"),
    "a layer left out": (
        tiny("SmolLM3", **HEADS, no_rope_layers=[1, 1, 1]), of_layer(1, use_rope=0), "rotates 0 of 8"),
    "a full layer turned": (tiny("Cohere2", **HEADS, **LOCAL), of_layer(1, sliding_window=4), "rotates 8 of 8"),
    "a full layer of exaone turned": (
        tiny("Exaone4", **HEADS, **LOCAL), of_layer(1, is_sliding=True), "rotates 8 of 8"),
    "a local layer of afmoe not turned": (
        tiny("Afmoe", **HEADS, **LOCAL, num_dense_layers=3), of_layer(0, is_local_attention=False), "rotates 0 of 8"),
    "a layer of llama 4 not turned": (
        tiny("Llama4Text", **HEADS, no_rope_layers=[1, 1, 1]), of_layer(2, use_rope=0), "rotates 0 of 8"),
    "complex numbers conjugated": (tiny("Llama4Text", **HEADS), conjugate_tables, "direction is transposed"),
    "complex keys not turned": (tiny("Llama4Text", **HEADS), complex_keys_still, "does not turn its keys"),
    "ernie's halves": (
        tiny("Ernie4_5", **HEADS), swapped_method("ernie4_5", "", "rotate_half", halves), "queries"),
    "cohere's halves": (tiny("Cohere", **HEADS), swapped_method("cohere", "", "rotate_half", halves), "queries"),
    "nanochat the usual way": (
        tiny("NanoChat", **HEADS), swapped_method("nanochat", "", "rotate_half", halves), "direction is transposed"),
    "hunyuan the other way": (
        tiny("HunYuanDenseV1", **HEADS), applied("hunyuan_v1_dense", lambda f, q, k, c, s: f(q, k, c, -s)),
        "direction is transposed"),
    "an attention of another class": (LLAMA, subclassed, "direction is transposed"),
    "another scale of scores": (LLAMA, of_layer(1, scaling=0.5), "multiplies its scores by 0.5"),
    "local layers at the global base": (
        BY_CONTENT, lambda model, _patch: setattr(
            model.rotary_emb, "sliding_attention_inv_freq", model.rotary_emb.full_attention_inv_freq.clone()),
        "the base is 1,000,000, not 10,000"),
}  # fmt: skip
"""A model, what is done to it, and what the check has to say."""


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_found_and_named(name: str, monkeypatch: Patch) -> None:
    build, plant, said = FAULTS[name]
    model = build()
    assert conformance(model) == []
    plant(model, monkeypatch)
    found = conformance(model)
    assert found, name
    assert any(said in f"{each.what} {each.cause} {each.side}" for each in found), found


def test_keys_that_are_dealt_out_otherwise_are_found_in_what_the_projections_give(monkeypatch: Patch) -> None:
    """DeepSeek-V3 turns neighbours of what its projections give, and lays them out as halves."""
    model = copy.deepcopy(architectures()["deepseek_v3"])
    plain_interleave(model, monkeypatch)
    assert {(each.side, each.cause) for each in conformance(model)} == {
        ("queries", "halves against neighbours"),
        ("keys", "halves against neighbours"),
    }


@pytest.mark.parametrize(("one", "other"), [("Llama", "Ernie4_5"), ("Llama", "NanoChat"), ("Ernie4_5", "Llama")])
def test_two_models_of_other_layouts_or_directions_are_different(one: str, other: str) -> None:
    rope = {"rope_type": "default", "rope_theta": 1e4}
    found = against(tiny(one, **HEADS, rope_parameters=rope)(), tiny(other, **HEADS, rope_parameters=rope)())
    assert {each.layer for each in found} == {0, 1, 2}
    assert {each.side for each in found} == {"queries", "keys"}
    assert {each.cause for each in found} <= {"halves against neighbours", "the direction is transposed"}


def test_two_models_of_one_layout_are_alike() -> None:
    assert against(tiny("Llama", **HEADS)(), tiny("Mistral", **HEADS)()) == []


UNREAD = [
    ({"rotary_emb_base": 500_000}, "base 10,000"),
    ({"rope_theta": 500_000.0}, "base 10,000"),
    ({"rotary_base": 1e6}, "base 10,000"),
    ({"rope_base": 1e6}, "base 10,000"),
    ({"rope_freq_base": 1e6}, "base 10,000"),
    ({"rope_local_base_freq": 5e5}, "base 10,000"),
    ({"rotary_pct": 0.25}, "turns 1 of each head"),
    ({"rotary_emb_fraction": 0.5}, "turns 1 of each head"),
    ({"rotary_dim": 4}, "8 dimensions"),
    ({"rotary_ndims": 2}, "8 dimensions"),
    ({"rope_interleaved": True}, "pairs of halves"),
    ({"rotary_emb_interleaved": True}, "pairs of halves"),
    ({"use_neox_style": False}, "pairs of halves"),
    ({"rope_scaling_factor": 4.0}, "4 times as slowly"),
    ({"rope_scaling_type": "linear"}, "without a scaling of kind 'linear'"),
    ({"use_rope": False}, "turns its queries and keys"),
    ({"position_embedding_type": "alibi"}, "turns its queries and keys"),
    ({"no_rope_layer_interval": 2}, "turns layer 1"),
    ({"rope_attention_factor": 1.2}, "multiplies queries and keys by 1"),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "factor": 8.0}}, "8 times as slowly"),
    ({"rope_parameters": {"rope_type": "default", "type": "linear", "rope_theta": 1e4}}, "kind 'linear'"),
    ({"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "base": 5e5}}, "base 10,000"),
]
"""What config.json says, and what Llama, at base 10,000 over the whole head, is said to do instead."""


@pytest.mark.parametrize(("says", "does"), UNREAD, ids=lambda value: str(value)[:60])
def test_a_key_that_nobody_reads_is_held_against_the_model(says: dict[str, Any], does: str) -> None:
    made = check(loaded(LLAMA(), **says), TEXT)
    (found,) = made.differences
    assert "config.json says" in found.what
    assert does in found.what


def test_layers_that_config_json_leaves_unturned_are_held_against_the_model() -> None:
    (found,) = check(loaded(LLAMA(), no_rope_layers=[1, 0, 1]), TEXT).differences
    assert (found.layer, found.what) == (1, "the model rotates 8 of 8 dimensions, its config.json 0 of 8")


@pytest.mark.parametrize("says", [{"rotary_emb_base": 10_000}, {"rotary_pct": 1.0}, {"rope_interleaved": False}])
def test_a_key_that_nobody_reads_and_that_is_true_is_named(says: dict[str, Any]) -> None:
    made = check(loaded(LLAMA(), **says), TEXT)
    assert made.differences == []
    assert [key.key for key in made.unread] == list(says)
    assert made.unread[0].agrees


@pytest.mark.parametrize(
    "says",
    [
        {"rope_parameters": None, "rope_theta": 5e5},
        {"rope_parameters": None, "rope_theta": 5e5, "rope_scaling": {"type": "linear", "factor": 4.0}},
        {"rope_parameters": None, "rope_theta": 5e5, "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
    ],
)
def test_older_keys_that_are_read_are_not_named(says: dict[str, Any]) -> None:
    values = copy.deepcopy({key: value for key, value in says.items() if value is not None})
    config = transformers.LlamaConfig.from_dict({**json.loads(LLAMA().config.to_json_string()), **copy.deepcopy(says)})
    model = randomised(transformers.LlamaModel._from_config(config, attn_implementation="eager"))
    source = loaded(model)
    raw = {key: value for key, value in source.source.config.items() if key != "rope_parameters"} | values
    made = check(Loaded(model, source.tokenizer, Source("it", "r1", Path(), raw), "cpu"), TEXT)
    assert made.differences == []
    assert made.unread == []


def test_an_older_kind_beside_parameters_that_win_is_different() -> None:
    """rope_scaling wins over rope_parameters in transformers, whose base is then lost."""
    raw = {
        "rope_parameters": {"rope_type": "default", "rope_theta": 5e5},
        "rope_scaling": {"type": "linear", "factor": 4.0},
    }
    values = {**json.loads(LLAMA().config.to_json_string(use_diff=False)), **copy.deepcopy(raw)}
    config = transformers.LlamaConfig.from_dict(copy.deepcopy(values))
    model = randomised(transformers.LlamaModel._from_config(config, attn_implementation="eager"))
    found = check(Loaded(model, tiny_tokenizer(), Source("it", "r1", Path(), values), "cpu"), TEXT).differences
    assert any("rope_parameters.rope_theta: 500000.0, which is not read" in each.what for each in found)


def test_positions_that_come_another_way_are_found_when_tokens_are_moved(monkeypatch: Patch) -> None:
    """An attention that turns by the order of its tokens, whatever their positions are."""
    model = LLAMA()
    assert shift_test(model, given(model), measured_turns(model, given(model))) == ([], "")
    turns = measured_turns(model, given(model))

    def own_order(own: Any, q: Any, k: Any, c: Any, s: Any) -> tuple[Any, Any]:
        angle = torch.arange(q.shape[-2])[:, None] * model.rotary_emb.inv_freq
        angle = torch.cat([angle, angle], -1)[None]
        return own(q, k, angle.cos(), angle.sin())

    applied("llama", own_order)(model, monkeypatch)
    (found,), _ = shift_test(model, given(model), turns)
    assert "when tokens change places" in found.what
    assert conformance(model)


def test_positions_that_are_added_are_found_when_all_are_moved() -> None:
    model = LLAMA()
    turns = measured_turns(model, given(model))
    rows = torch.randn(40, 32, generator=torch.Generator().manual_seed(0))

    def add(_module: Any, args: Any, kwargs: Any) -> Any:
        kwargs["inputs_embeds"] = model.embed_tokens(kwargs.pop("input_ids")) + rows[kwargs["position_ids"][0]]
        return args, kwargs

    model.register_forward_pre_hook(add, with_kwargs=True)
    (found,), _ = shift_test(model, given(model), turns)
    assert (found.layer, found.cause) == (0, "positions that are not distances")


def test_what_follows_a_turn_is_mapped_or_refused_for_its_reason() -> None:
    assert position_map(Loaded.of(tiny("NanoChat", **HEADS)(), tiny_tokenizer()), TEXT).errors.max() < 1e-5
    assert (
        position_map(Loaded.of(copy.deepcopy(architectures()["deepseek_v3"]), tiny_tokenizer()), TEXT).errors.max()
        < 1e-5
    )
    with pytest.raises(ModelError, match="a norm with a weight for each dimension follows the turn"):
        position_map(Loaded.of(tiny("HunYuanDenseV1", **HEADS)(), tiny_tokenizer()), TEXT)


def test_keys_that_are_not_turned_are_the_reason_why_there_is_no_map(monkeypatch: Patch) -> None:
    model = LLAMA()
    applied("llama", lambda f, q, k, c, s: (f(q, k, c, s)[0], k))(model, monkeypatch)
    with pytest.raises(ModelError, match="its queries are turned and its keys are not"):
        position_map(Loaded.of(model, tiny_tokenizer()), TEXT)


def saved(folder: Path, model: Any, **config: Any) -> str:
    model.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    values = json.loads((folder / "config.json").read_text()) | config
    (folder / "config.json").write_text(json.dumps({key: x for key, x in values.items() if x is not None}))
    return str(folder)


def run(*arguments: str) -> tuple[int, str]:
    made = CliRunner().invoke(app, ["positions", *arguments, "--text", TEXT])
    return made.exit_code, made.output


def test_the_command_ends_with_1_and_names_what_differs(tmp_path: Path, monkeypatch: Patch) -> None:
    folder = saved(tmp_path / "a", LLAMA(), rope_parameters=None, rotary_emb_base=500_000)
    code_, said = run(folder)
    assert code_ == 1
    assert "DIFFERENT: config.json says rotary_emb_base: 500000, which is not read" in said
    other = saved(tmp_path / "b", tiny("Ernie4_5", **HEADS)())
    code_, said = run(other, "--against", folder)
    assert code_ == 1
    assert "DIFFERENT at layer 0, wavelengths 32 to 128 tokens" in said
    assert "DIFFERENT at layer 0, queries, dimensions 0 and 1" in said
    applied("llama", lambda f, q, k, c, s: (f(q, k, c, s)[0], k))(None, monkeypatch)
    code_, said = run(folder, "--json")
    assert code_ == 1
    fields = json.loads(said)
    assert "its queries are turned and its keys are not" in fields["refused"]
    assert fields["differences"][0]["side"] == "keys"


def test_a_model_without_a_map_is_checked_all_the_same(tmp_path: Path) -> None:
    code_, said = run(saved(tmp_path / "a", tiny("HunYuanDenseV1", **HEADS)()))
    assert code_ == 0
    assert "a norm with a weight for each dimension" in said
    assert "It rotates as its config says." in said


def test_every_key_of_a_saved_config_is_read_or_true() -> None:
    for name in ("gpt_neox", "phi3", "gemma3_text", "deepseek_v3", "llama4_text", "modernbert"):
        model = architectures()[name]
        turns = measured_turns(model, given(model))
        raw = json.loads(model.config.to_json_string(use_diff=False))
        assert [key.sentence for key in unread_keys(raw, turns, len(given(model)["input_ids"][0]))] == [], name
