"""Proves the formulas of costs against models that transformers builds, and torch's own counter of products."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
import transformers
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from analysis.ablation.encoder import AddendConfig, AddendModel
from analysis.ablation.variants import VARIANTS
from analysis.narrative.choosing.methods import forms
from analysis.narrative.choosing.settings import IN_USE, NO_DECODER
from analysis.narrative.choosing.sizes import VOCABULARY, ModelSize, extra, parameters, products

SIZES = pytest.mark.parametrize(
    "size", [ModelSize(width=48, layers=2, heads=4, length=20), ModelSize(width=96, layers=3, heads=8, length=12)]
)


def count(model: nn.Module) -> int:
    return sum(weight.numel() for weight in model.parameters())


def shape(size: ModelSize) -> dict[str, Any]:
    return {
        "hidden_size": size.width,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "intermediate_size": 4 * size.width,
    }


def bert(size: ModelSize, **changed: Any) -> nn.Module:
    config = transformers.BertConfig(
        **shape(size), max_position_embeddings=size.length, type_vocab_size=1, attn_implementation="eager", **changed
    )
    return transformers.BertModel(config, add_pooling_layer=False)


def deberta(size: ModelSize, *, relative: bool) -> nn.Module:
    config = transformers.DebertaV2Config(
        **shape(size), vocab_size=40, relative_attention=relative, pos_att_type=["c2p", "p2c"], type_vocab_size=0,
        position_biased_input=False, max_relative_positions=size.length, max_position_embeddings=size.length,
    )  # fmt: skip
    return transformers.DebertaV2Model(config)


def own(variant: str, size: ModelSize) -> nn.Module:
    fields = VARIANTS[variant].fields(hidden_size=size.width, heads=size.heads)
    given = {**fields, **shape(size), "vocab_size": 40, "max_position_embeddings": size.length}
    return AddendModel(AddendConfig(**given))


def flops(model: nn.Module, **inputs: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        model.eval()(**inputs)
    return counter.get_total_flops()


@SIZES
def test_all_parameters_are_those_of_bert(size: ModelSize) -> None:
    """But for what has nothing to do with positions: the one row of segments, and the norm after the sum."""
    besides = 3 * size.width
    assert parameters("bert_a", size) == count(bert(size, vocab_size=VOCABULARY)) - besides


@SIZES
def test_products_are_those_of_bert(size: ModelSize) -> None:
    tokens = torch.zeros(1, size.length, dtype=torch.long)
    assert products("bert_a", size) == flops(bert(size, vocab_size=40), input_ids=tokens)
    assert extra("bert_a").products(size) == 0


@SIZES
def test_deberta_needs_what_its_relative_attention_adds(size: ModelSize) -> None:
    tokens = torch.zeros(1, size.length, dtype=torch.long)
    without, relative = deberta(size, relative=False), deberta(size, relative=True)
    assert extra("deberta").parameters(size) == count(relative) - count(without)
    for texts in (1, 3):
        batch = tokens.expand(texts, -1)
        added = flops(relative, input_ids=batch) - flops(without, input_ids=batch)
        assert texts * extra("deberta").products(size) + extra("deberta").shared(size) == added


@SIZES
def test_the_bias_of_t5_is_one_table_of_numbers(size: ModelSize) -> None:
    config = transformers.T5Config(
        vocab_size=40, d_model=size.width, d_ff=4 * size.width, num_layers=size.layers, num_heads=size.heads
    )
    biases = [w for n, w in transformers.T5EncoderModel(config).named_parameters() if "relative_attention_bias" in n]
    assert extra("relative_only").parameters(size) == sum(weight.numel() for weight in biases)


LONGER: dict[str, Callable[[ModelSize], nn.Module]] = {
    "rotary": lambda size: transformers.LlamaModel(
        transformers.LlamaConfig(**shape(size), vocab_size=40, max_position_embeddings=size.length)
    ),
    "causal_partial_25": lambda size: transformers.GPTNeoXModel(
        transformers.GPTNeoXConfig(
            **shape(size), vocab_size=40, max_position_embeddings=size.length,
            rope_parameters={"rope_type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.25},
        )
    ),
    "alibi": lambda size: transformers.MptModel(
        transformers.MptConfig(
            d_model=size.width, n_heads=size.heads, n_layers=size.layers, vocab_size=40, max_seq_len=size.length
        )
    ),
    "bert_a": lambda size: bert(size, vocab_size=40),
}  # fmt: skip


@pytest.mark.parametrize("variant", LONGER)
def test_what_longer_texts_cost_in_parameters(variant: str) -> None:
    short, long = ModelSize(width=64, layers=2, heads=4, length=16), ModelSize(width=64, layers=2, heads=4, length=48)
    built = count(LONGER[variant](long)) - count(LONGER[variant](short))
    assert parameters(variant, long) - parameters(variant, short) == built


@SIZES
@pytest.mark.parametrize("variant", ["bert_a", "relative_only", "alibi", "rotary", "tupe_a", "causal_polar"])
def test_parameters_are_those_of_our_own_encoder(variant: str, size: ModelSize) -> None:
    """TUPE is in no class of transformers: here it is what our encoder of it has."""
    added = count(own(variant, size)) - count(own("no_position", size))
    assert extra(variant).parameters(size) == added


def test_products_of_tupe_are_those_of_our_own_encoder() -> None:
    size = ModelSize(width=48, layers=2, heads=4, length=20)
    tokens = torch.arange(2, 2 + size.length).expand(3, -1)
    with FlopCounterMode(display=False) as counter:
        own("tupe_a", size).eval()(input_ids=tokens)
    counted = counter.get_flop_counts()["AddendModel.encoder.position_scores"]
    assert extra("tupe_a").shared(size) == sum(counted.values())
    assert extra("tupe_a").products(size) == 0


def test_products_of_polar_positions_are_twice_as_long() -> None:
    size = ModelSize(width=48, layers=2, heads=4, length=20)
    tokens = torch.arange(2, 2 + size.length)[None]
    models = [own(name, size) for name in ("causal_rotary", "causal_polar")]
    for model in models:
        model.set_attn_implementation("eager")
    rotary, polar = (flops(model, input_ids=tokens) for model in models)
    assert extra("causal_polar").products(size) == polar - rotary


@pytest.mark.parametrize("form", [name for name, form in forms("sinusoidal").items() if form.code])
def test_the_lines_of_torch_make_the_table_of_the_form(form: str) -> None:
    size = ModelSize(width=128, layers=1, heads=2, length=20)
    model, embedding = own(form, size), nn.Embedding(1_000, size.width)
    given = {"length": size.length, "width": size.width, "embedding": embedding, "tokens": torch.arange(size.length)}
    exec(forms("sinusoidal")[form].code, given)
    assert embedding.weight.std().item() == pytest.approx(model.config.initializer_range, rel=0.02)
    torch.testing.assert_close(given["table"], model.embeddings.position_embeddings.weight.data, rtol=0, atol=1e-6)
    assert given["hidden"].shape == (size.length, size.width)


def test_the_lines_of_torch_make_the_scores_of_polar_positions() -> None:
    size, dim = ModelSize(width=48, layers=1, heads=4, length=20), 12
    query, key = torch.randn(2, size.heads, size.length, dim, dtype=torch.float64)
    shift = torch.randn(size.heads, 1, dim, dtype=torch.float64)
    given = {"length": size.length, "dim": dim, "query": query, "key": key, "shift": shift}
    exec(forms("causal_polar")["causal_polar"].code, given)
    angles = torch.arange(size.length, dtype=torch.float64)[:, None] * 10_000 ** (-torch.arange(dim) / dim)
    lengths = nn.functional.softplus(query)[..., :, None, :] * nn.functional.softplus(key)[..., None, :, :]
    turns = angles[:, None] - angles[None] - shift[:, None]
    want = (lengths * turns.cos()).sum(-1) / dim**0.5
    torch.testing.assert_close(given["scores"], want, rtol=0, atol=1e-4)


def small(line: str, **sizes: object) -> Any:
    """The model of a line of configuration, at a small size."""
    call = line.partition("(")[0]
    config = eval(line, {call: partial(getattr(transformers, call), vocab_size=100, pad_token_id=1, **sizes)})
    return transformers.AutoModel.from_config(config).eval()


def test_the_line_for_sinusoids_makes_a_frozen_table_beside_scaled_words() -> None:
    sizes = dict.fromkeys(("encoder_layers", "decoder_layers", "encoder_attention_heads", "decoder_attention_heads"), 1)
    line = IN_USE["sinusoidal"].config
    model = small(line, d_model=32, encoder_ffn_dim=32, decoder_ffn_dim=32, decoder_start_token_id=1, **sizes)
    table = model.encoder.embed_positions.weight
    assert not table.requires_grad
    assert torch.allclose(table[1, :2], torch.tensor([1.0, 10_000 ** (-2 / 32)]).sin(), atol=1e-6), "sines come first"
    assert model.encoder.embed_scale == math.sqrt(32)


def test_the_line_for_distances_makes_no_table_of_positions() -> None:
    line = IN_USE["deberta"].config
    model = small(line, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    assert not [name for name, _ in model.named_parameters() if "position_embeddings" in name]
    longer = model.config.max_position_embeddings + 8
    assert model(torch.randint(3, 99, (1, longer))).last_hidden_state.shape[1] == longer


LINES = [way.call(1024, decoder=decoder) for way in IN_USE.values() for decoder in (False, True)]
LINES = [line for line in dict.fromkeys(LINES) if line not in ("", NO_DECODER)]
LINES += [form.config for name in IN_USE for form in forms(name).values() if form.config]


def test_a_learned_table_has_a_row_for_each_token_of_the_readers_texts() -> None:
    way = IN_USE["bert_a"]
    assert (way.call(300, decoder=False), way.call(2048, decoder=True)) == (
        "BertConfig(max_position_embeddings=300)",
        "GPT2Config(n_positions=2048)",
    )


def test_the_lines_that_keep_words_and_positions_apart_give_the_scores_of_our_model() -> None:
    """Against the encoder that was trained, with random weights, in float64."""
    torch.manual_seed(0)
    size = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 1, "max_position_embeddings": 16}
    model = AddendModel(AddendConfig(**VARIANTS["tupe_a"].settings, **size)).double()
    own = model.encoder.position_scores
    torch.nn.init.normal_(own.positions.weight)
    length, heads, dim = 9, 4, 8
    split = lambda rows: rows.unflatten(-1, (heads, dim)).transpose(0, 1)  # noqa: E731
    rows = own.normed(length)
    products = split(own.query(rows)) @ split(own.key(rows)).transpose(1, 2)
    query, key = torch.randn(2, heads, length, dim, dtype=torch.float64)
    given = {
        "norm": own.LayerNorm, "table": own.positions.weight[own.extra_rows :], "length": length, "dim": dim,
        "of_query": lambda rows: split(own.query(rows)), "of_key": lambda rows: split(own.key(rows)),
        "from_cls": products[:, 0, 0, None], "to_cls": products[:, 1, 1, None], "query": query, "key": key,
    }  # fmt: skip
    exec(forms("tupe_a")["tupe_a"].code, given)
    words = query @ key.transpose(-1, -2) / (2 * dim) ** 0.5
    assert torch.allclose(given["scores"], words + own(length)[0], atol=1e-12)


@pytest.mark.parametrize("line", LINES)
def test_the_line_of_configuration_sets_what_it_says(line: str) -> None:
    call = line.partition("(")[0]
    config = eval(line, {call: getattr(transformers, call)})
    asked = eval(line.replace(call, "dict", 1))
    for key, value in asked.items():
        found = getattr(config, key)
        if isinstance(value, dict):
            found = {name: found[name] if isinstance(found, dict) else getattr(found, name) for name in value}
        if key == "pos_att_type":
            value, found = value.split("|"), found if isinstance(found, list) else found.split("|")
        assert found == value, key
