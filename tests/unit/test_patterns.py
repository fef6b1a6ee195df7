"""Patterns of models of no known family: those that transformers' own eager pass gives, or a sentence and nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from family_specimens import UNKNOWN_SHAPE as SHAPE, randomised
from tiny_tokenizers import byte_level
from transformers import (
    BartConfig,
    BartModel,
    BloomConfig,
    BloomModel,
    Gemma2Config,
    Gemma2Model,
    GPTNeoConfig,
    GPTNeoModel,
    GptOssConfig,
    GptOssModel,
    PhiConfig,
    PhiModel,
    XLNetConfig,
    XLNetModel,
)
from transformers.models.phi import modeling_phi

from analysis.core.errors import LinkError, ModelError, NoFamily
from analysis.figures import FIGURES
from analysis.figures.drawing import panels
from analysis.models.families import FAMILIES
from analysis.models.load import load
from analysis.models.patterns import patterns
from analysis.models.source import resolve
from analysis.models.trace_sources import Layer
from analysis.probes import text_probe
from analysis.streams.tensor import DecomposedTensor

GROUPED: dict[str, Any] = {"num_key_value_heads": 2, "head_dim": 8}


def phi() -> Any:
    return randomised(PhiModel(PhiConfig(**SHAPE)))


def gemma2() -> Any:
    """Caps its scores, hard: nearly every one here."""
    return randomised(Gemma2Model(Gemma2Config(**SHAPE, **GROUPED, attn_logit_softcapping=2.0)))


def text(model: Any) -> dict[str, torch.Tensor]:
    ids = torch.randint(1, 300, (2, 12), generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids, "attention_mask": (torch.arange(12)[None] < torch.tensor([[12], [9]])).long()}


def gpt_oss() -> Any:
    """Lets every query attend to a sink, too, so that the weights of the tokens do not sum to one."""
    return randomised(GptOssModel(GptOssConfig(**SHAPE, **GROUPED, num_local_experts=2, num_experts_per_tok=1)))


@pytest.mark.parametrize("build", [phi, gemma2, gpt_oss])
def test_patterns_of_an_unknown_architecture_are_its_own(build: Any) -> None:
    model = build()
    assert model.config.model_type not in FAMILIES
    inputs, found = text(model), []
    output = patterns(model, inputs, found.append)
    model.set_attn_implementation("eager")
    with torch.no_grad():
        told = model(**inputs, output_attentions=True)
    assert [layer.index for layer in found] == [0, 1, 2]
    for layer, own in zip(found, told.attentions, strict=True):
        torch.testing.assert_close(layer.pattern, own, rtol=0, atol=1e-5)
        assert layer.call.scores.shape == own.shape
        assert not isinstance(layer.call.query, DecomposedTensor)
    torch.testing.assert_close(output[0], told[0], rtol=0, atol=1e-4)


def test_an_edit_is_what_the_model_goes_on_with() -> None:
    model = phi()
    inputs, before, after = text(model), [], []
    untouched = patterns(model, inputs, before.append)
    output = patterns(model, inputs, after.append, edit=lambda layer: layer.call.scores * (layer.index != 1))
    torch.testing.assert_close(after[0].pattern, before[0].pattern)
    uniform = torch.tril(torch.ones(12, 12))
    torch.testing.assert_close(after[1].pattern[0, 0], uniform / uniform.sum(-1, keepdim=True))
    assert float((output[0] - untouched[0]).abs().max()) > 1e-3


IGNORING: dict[str, Any] = {
    "bloom": lambda: BloomModel(BloomConfig(vocab_size=300, hidden_size=32, n_head=4, n_layer=3)),
    "gpt_neo": lambda: GPTNeoModel(
        GPTNeoConfig(vocab_size=300, hidden_size=32, num_heads=4, num_layers=2, attention_types=[[["global"], 2]])
    ),
    "xlnet": lambda: XLNetModel(XLNetConfig(vocab_size=300, d_model=32, n_layer=3, n_head=4, d_inner=24)),
}


def refused(model: Any, *said: str) -> None:
    found: list[Layer] = []
    before = model.config._attn_implementation
    with pytest.raises(ModelError) as caught:
        patterns(model, text(model), found.append)
    assert not found, "something was offered"
    assert model.config._attn_implementation == before
    for part in (*said, "terms exist for", "bert", "gpt2"):
        assert part in str(caught.value)


@pytest.mark.parametrize("name", IGNORING)
def test_a_model_that_ignores_the_interface_is_refused(name: str) -> None:
    model = IGNORING[name]().eval()
    layers = model.config.num_hidden_layers
    refused(model, f"{type(model).__name__} has {layers} layers and calls", "interface 0 times")


def test_a_model_that_does_more_to_its_scores_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Phi, whose own attention squares what it gives: no library's model at hand does anything that is not seen."""
    plain = modeling_phi.eager_attention_forward

    def squares(*given: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor]:
        attended, pattern = plain(*given, **named)
        return attended**2, pattern

    monkeypatch.setattr(modeling_phi, "eager_attention_forward", squares)
    refused(phi(), "PhiModel does more to its scores than scale, mask and softmax")


def test_an_encoder_with_a_decoder_is_refused() -> None:
    sizes: dict[str, Any] = {
        f"{side}_{what}": 2 for side in ("encoder", "decoder") for what in ("layers", "attention_heads", "ffn_dim")
    }
    refused(BartModel(BartConfig(vocab_size=300, d_model=32, **sizes)).eval(), "an encoder and a decoder")


def test_a_model_in_training_mode_is_refused() -> None:
    with pytest.raises(ModelError, match="training mode"):
        patterns(phi().train(), text(None), lambda _: None)


def test_a_folder_of_an_unknown_architecture_opens_for_patterns_alone(tmp_path: Path) -> None:
    phi().save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"architecture 'phi'; terms exist for: .*gpt2"):
        resolve(str(tmp_path))
    loaded = load(resolve(str(tmp_path), terms=False), device="cpu")
    found: list[Layer] = []
    patterns(loaded.model, loaded.tokenizer("The cat sat.", return_tensors="pt"), found.append)
    assert len(found) == 3
    config = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(config.replace('"phi"', '"my-own"'))
    with pytest.raises(ModelError, match=r"'my-own', which transformers .* does not know, and code .* is never run"):
        resolve(str(tmp_path), terms=False)


def test_the_probe_shows_where_a_model_without_terms_attends(tmp_path: Path) -> None:
    phi().save_pretrained(tmp_path)
    byte_level().save_pretrained(tmp_path)
    asked = {"model": str(tmp_path), "revision": "", "text": "the cat sat", "pair": "", "layer": 2, "truncate": False}
    with pytest.raises(NoFamily, match="of the architecture 'phi'"):
        text_probe.TermsRequest.of(asked).run()
    run = text_probe.PatternsRequest.obtain(asked)
    loaded = text_probe.PatternsRequest.of(asked).load()
    loaded.model.set_attn_implementation("eager")
    with torch.no_grad():
        told = loaded.model(**loaded.tokenizer("the cat sat", return_tensors="pt"), output_attentions=True).attentions
    assert run.patterns.shape == (3, 4, len(run.token_info), len(run.token_info))
    np.testing.assert_allclose(run.patterns[2, 1], told[2][0, 1], atol=1e-5)
    figure = FIGURES["probe_patterns"].of({**asked, "head": 1}, run)
    np.testing.assert_array_equal(figure.frame().probability, run.patterns[2, 1].ravel())
    assert len(panels(figure)) == 1
    with pytest.raises(LinkError, match="heads 0 to 3"):
        FIGURES["probe_patterns"].of({**asked, "head": 4}, run)
