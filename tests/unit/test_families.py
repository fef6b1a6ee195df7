"""The contract every family keeps, on tiny models with random weights, a batch of two and padding.

At every layer the terms add up to the model's own scores and the sources to its hidden states. The
references are transformers' own: the attention probabilities and hidden states that a plain eager pass
returns, with none of our hooks and none of our attention.
"""

from pathlib import Path
from typing import Any

import pytest
import torch
from family_specimens import SPECIMENS, ids
from specimens import tiny_tokenizer
from torch import Tensor
from transformers import T5Config, T5EncoderModel, T5ForConditionalGeneration

from analysis.core.errors import ModelError
from analysis.core.term_names import SOURCES
from analysis.measurements.terms.run import sum_of_terms
from analysis.models import families, load, source
from analysis.models.families import FAMILIES
from analysis.models.trace_sources import FREEZES, Layer, trace_sources
from analysis.streams.tensor import DecomposedTensor, stacked, total


def family_of(name: str) -> Any:
    return FAMILIES[name.split()[0]]


def inputs_of(name: str, model: Any) -> dict[str, Tensor]:
    return dict((SPECIMENS[name].inputs or ids)(model))


def eager(model: Any, inputs: dict[str, Tensor]) -> Any:
    before = model.config._attn_implementation
    model.set_attn_implementation("eager")
    with torch.no_grad():
        told = model(**inputs, output_attentions=True, output_hidden_states=True)
    model.set_attn_implementation(before)
    return told


def real(inputs: dict[str, Tensor], row: int, length: int) -> Tensor:
    mask = inputs.get("attention_mask")
    return torch.ones(length, dtype=torch.bool) if mask is None else mask[row].bool()


def test_every_family_has_a_specimen() -> None:
    assert {name.split()[0] for name in SPECIMENS} == set(FAMILIES)


SIDES = [(name, left) for name in SPECIMENS for left in ([False, True] if SPECIMENS[name].causal else [False])]
"""Encoders are padded on the right, decoders on either side."""


@pytest.mark.parametrize(("name", "left"), SIDES)
@torch.no_grad()
def test_terms_are_the_models_own_scores_at_every_layer(name: str, left: bool) -> None:
    specimen = SPECIMENS[name]
    model = specimen.build()
    inputs = ids(model, left) if left else inputs_of(name, model)
    told = eager(model, inputs)
    layers: list[Layer] = []
    trace_sources(model, family_of(name), inputs, layers.append)
    assert len(layers) == len(told.attentions)
    for layer, attention in zip(layers, told.attentions, strict=True):
        for row in range(2):
            factors, own = layer.factors(row), layer.call.scores[row]
            seen = layer.attended(row)
            kept = real(inputs, row, own.shape[-2])
            mask = kept[:, None] & (torch.ones_like(own[0], dtype=torch.bool) if seen is None else seen)
            assert not mask[:, ~kept].any(), "a real query attends to padding"
            if specimen.causal:
                assert not mask.triu(1).any()
            total = sum_of_terms(factors)
            spread = float(own[:, mask].max() - own[:, mask].min())
            assert float((total - own)[:, mask].abs().max()) < specimen.tolerance * spread
            # The pattern of transformers' own pass: its scores were those that we take apart.
            pattern = total.masked_fill(~mask, -torch.inf).softmax(-1)[:, kept]
            assert float((pattern - attention[row][:, kept]).abs().max()) < 1e-4
            assert (factors.bias is not None) == specimen.score_bias


@pytest.mark.parametrize("name", SPECIMENS)
def test_sources_add_up_to_the_hidden_states(name: str) -> None:
    model = SPECIMENS[name].build()
    inputs = inputs_of(name, model)
    told = eager(model, inputs)
    states: list[Tensor] = []
    output = trace_sources(model, family_of(name), inputs, states=lambda _, hidden: states.append(hidden))
    expected = list(told.hidden_states[1 : len(states)])
    assert len(states) == len(told.attentions)
    for hidden, own in zip(states, expected, strict=False):
        whole = stacked(hidden, len(SOURCES)).sum(0)
        assert float((whole - own).abs().max()) < 1e-5 * float(own.max() - own.min())
    assert isinstance(output.last_hidden_state, DecomposedTensor)
    last = stacked(output.last_hidden_state, len(SOURCES))
    spread = float(told.last_hidden_state.max() - told.last_hidden_state.min())
    assert float((last.sum(0) - told.last_hidden_state).abs().max()) < 1e-5 * spread
    torch.testing.assert_close(total(output.last_hidden_state), told.last_hidden_state, rtol=0, atol=1e-5 * spread)


@pytest.mark.parametrize("name", SPECIMENS)
def test_the_sources_are_those_the_family_names(name: str) -> None:
    model = SPECIMENS[name].build()
    layers: list[Layer] = []
    trace_sources(model, family_of(name), inputs_of(name, model), layers.append)
    query = layers[-1].factors().query
    assert tuple(s for s, part in zip(SOURCES, query, strict=True) if part.any()) == SPECIMENS[name].sources


# Our own encoder takes no position ids: padding on the left moves its words.
@pytest.mark.parametrize(("name", "left"), [side for side in SIDES if not (side[1] and side[0].startswith("addend"))])
@torch.no_grad()
def test_padding_changes_no_term(name: str, left: bool) -> None:
    """The padded row of a batch has the terms that it has alone, without padding."""
    if SPECIMENS[name].inputs:
        pytest.skip("its inputs are not padded")
    model = SPECIMENS[name].build()
    inputs = ids(model, left) if left else inputs_of(name, model)
    kept = inputs["attention_mask"][1].bool()
    if left:  # positions are then counted from the first real token, as transformers' generate does
        inputs["position_ids"] = (inputs["attention_mask"].cumsum(1) - 1).clamp(min=0)
    alone = {key: value[1:, kept] for key, value in inputs.items()}
    together: list[Layer] = []
    apart: list[Layer] = []
    trace_sources(model, family_of(name), inputs, together.append)
    trace_sources(model, family_of(name), alone, apart.append)
    for both, one in zip(together, apart, strict=True):
        for a in range(len(SOURCES)):
            padded, bare = both.factors(1), one.factors(0)
            for b in range(len(SOURCES)):
                expected = bare.query[a] @ bare.key[b].mT
                # Keys that are not attended to may hold anything: a score bias put into dimensions, say.
                got = (padded.query[a] @ padded.key[b].mT)[:, kept][..., kept]
                torch.testing.assert_close(got, expected, rtol=0, atol=1e-4 * max(1.0, float(expected.abs().max())))


@pytest.mark.parametrize("name", [name for name, specimen in SPECIMENS.items() if specimen.gated])
def test_whatever_is_held_of_a_gated_unit_the_sources_add_up(name: str) -> None:
    """The choice moves what is credited to the word and the bias, never their sum."""
    model = SPECIMENS[name].build()
    inputs = inputs_of(name, model)
    expected = eager(model, inputs).last_hidden_state
    split = {}
    for freeze in FREEZES:
        output = trace_sources(model, family_of(name), inputs, freeze=freeze)
        split[freeze] = stacked(output.last_hidden_state, len(SOURCES))
        spread = float(expected.max() - expected.min())
        assert float((split[freeze].sum(0) - expected).abs().max()) < 1e-5 * spread
    if "bias" in SPECIMENS[name].sources:  # else the word is all there is
        for a, b in (("activation", "other"), ("activation", "half"), ("other", "half")):
            assert float((split[a] - split[b]).abs().max()) > 0.01 * spread


@pytest.mark.parametrize("name", SPECIMENS)
def test_scores_are_the_same_when_no_source_is_followed(name: str) -> None:
    model = SPECIMENS[name].build()
    inputs = inputs_of(name, model)
    followed: list[Layer] = []
    alone: list[Layer] = []
    trace_sources(model, family_of(name), inputs, followed.append)
    trace_sources(model, family_of(name), inputs, alone.append, sources=False)
    for one, other in zip(followed, alone, strict=True):
        assert type(other.call.query) is Tensor
        spread = float(one.call.scores.max() - one.call.scores.min())
        torch.testing.assert_close(one.call.scores, other.call.scores, rtol=0, atol=1e-5 * spread)
        torch.testing.assert_close(one.pattern, other.pattern, rtol=0, atol=1e-4)
        products = other.call.scale * total(other.call.query) @ total(other.call.key).mT
        scores = products if other.call.bias is None else products + other.call.bias
        torch.testing.assert_close(scores, other.call.scores, rtol=0, atol=1e-5 * spread)


@pytest.mark.parametrize("name", SPECIMENS)
def test_scores_that_are_put_in_place_are_gone_on_with(name: str) -> None:
    """With all scores 0, each query that sees a key spreads evenly over the keys it sees, and the output changes."""
    model = SPECIMENS[name].build()
    inputs = inputs_of(name, model)
    seen: list[Layer] = []
    with torch.no_grad():
        before = model(**inputs).last_hidden_state
    for sources in (False, True):
        changed = trace_sources(
            model,
            family_of(name),
            inputs,
            seen.append,
            edit=lambda layer: torch.zeros_like(layer.call.scores),
            sources=sources,
        )
        assert float((total(changed.last_hidden_state) - before).abs().max()) > 1e-3
    for layer in seen:
        for row in range(2):
            keys = layer.attended(row)
            keys = torch.ones_like(layer.pattern[row, 0], dtype=torch.bool) if keys is None else keys
            expected = keys / keys.sum(-1, keepdim=True)
            real_queries = keys.any(-1)
            got = layer.pattern[row][:, real_queries]
            torch.testing.assert_close(got, expected[real_queries].expand_as(got), rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", SPECIMENS)
def test_the_model_is_left_as_it_was(name: str) -> None:
    model = SPECIMENS[name].build()
    inputs = inputs_of(name, model)
    with torch.no_grad():
        before = model(**inputs).last_hidden_state
        trace_sources(model, family_of(name), inputs, last=0)
        after = model(**inputs).last_hidden_state
    assert type(after) is Tensor
    assert torch.equal(before, after)
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in model.modules())
    assert not any("forward" in vars(module) for module in model.modules())


@pytest.mark.parametrize("name", ["bert", "roberta", "xlm-roberta", "camembert", "albert", "electra"])
def test_positions_that_transformers_would_drop_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match="relative_key_query"):
        families.family_of({"model_type": name, "position_embedding_type": "relative_key_query"}, "it")


def test_what_a_deberta_has_besides_is_refused() -> None:
    with pytest.raises(ModelError, match="convolution"):
        families.family_of({"model_type": "deberta-v2", "conv_kernel_size": 3}, "it")
    with pytest.raises(ModelError, match="talking_head"):
        families.family_of({"model_type": "deberta", "talking_head": True}, "it")


@pytest.mark.parametrize("name", ["roberta", "mpnet"])
def test_a_text_may_be_as_long_as_the_positions_go(name: str) -> None:
    model = SPECIMENS[name].build()
    longest = family_of(name).longest(model.config)
    model(input_ids=torch.full((1, longest), 7))
    with pytest.raises((IndexError, RuntimeError), match="index"):
        model(input_ids=torch.full((1, longest + 1), 7))


def test_of_a_t5_with_a_decoder_the_encoder_is_loaded(tmp_path: Path) -> None:
    sizes: dict[str, Any] = {"d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 2, "num_heads": 4, "vocab_size": 25}
    whole = T5ForConditionalGeneration(T5Config(**sizes)).eval()
    whole.save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    found = load.load(source.resolve(str(tmp_path)), device="cpu")
    assert type(found.model) is T5EncoderModel
    inputs = ids(found.model)
    with torch.no_grad():
        own = whole.get_encoder()(**inputs).last_hidden_state
    output = trace_sources(found.model, FAMILIES["t5"], inputs, sources=False)
    torch.testing.assert_close(output.last_hidden_state, own, rtol=0, atol=1e-5)
