"""Folders of decoders, as save_pretrained writes them, open and are taken apart; what is wrong with one is said.

The references are transformers' own: the model loaded at the precision it was stored in, and its eager pass.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
import torch
from family_specimens import randomised
from specimens import save_tiny, tiny_tokenizer
from tiny_tokenizers import TEXT, byte_level, sentencepiece_bpe, unigram
from transformers import (
    AutoModel,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoXConfig,
    GPTNeoXForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from analysis.core.errors import ModelError, TextTooLong
from analysis.measurements.terms import decompose
from analysis.models.load import Loaded, load
from analysis.models.source import resolve
from analysis.probes.text_probe import TermsRequest

SHAPE: dict[str, Any] = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "max_position_embeddings": 48,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
GROUPED = {"num_key_value_heads": 2, "intermediate_size": 24}
LINEAR = {"rope_parameters": {"rope_type": "linear", "factor": 4.0, "rope_theta": 10_000.0}}
KINDS: dict[str, tuple[Any, Any, dict[str, Any], Any]] = {
    "gpt2": (GPT2LMHeadModel, GPT2Config, {}, byte_level),
    "opt": (OPTForCausalLM, OPTConfig, {"ffn_dim": 24, "word_embed_proj_dim": 32}, byte_level),
    "gpt_neox": (GPTNeoXForCausalLM, GPTNeoXConfig, {"intermediate_size": 24}, byte_level),
    "llama": (LlamaForCausalLM, LlamaConfig, GROUPED, sentencepiece_bpe),
    "llama, rotations scaled": (LlamaForCausalLM, LlamaConfig, {**GROUPED, **LINEAR}, sentencepiece_bpe),
    "qwen3": (Qwen3ForCausalLM, Qwen3Config, {**GROUPED, "head_dim": 8}, unigram),
}


def save(folder: Path, kind: str, dtype: torch.dtype = torch.float32, **changes: Any) -> Path:
    build, config, own, tokenizer = KINDS[kind]
    sizes: dict[str, Any] = {"vocab_size": len(tokenizer()), **SHAPE, **own, **changes}
    randomised(build(config(**sizes)), 0.2).to(dtype).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def opened(folder: Path) -> Loaded:
    return load(resolve(str(folder)), device="cpu")


def own_pattern(folder: Path, loaded: Loaded, layer: int, dtype: torch.dtype = torch.float32) -> np.ndarray:
    model = AutoModel.from_pretrained(folder, dtype=dtype, attn_implementation="eager").eval()
    inputs = loaded.tokenizer(TEXT, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs, output_attentions=True).attentions[layer][0].float().numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_a_decoder_with_its_tokenizer_opens_and_is_taken_apart(tmp_path: Path, kind: str) -> None:
    loaded = opened(save(tmp_path, kind))
    assert loaded.dtype == torch.float32
    for layer in range(2):
        made = decompose(loaded.model, loaded.tokenizer, TEXT, layer=layer)
        assert made.relative_error < 1e-5
        np.testing.assert_allclose(made.pattern, own_pattern(tmp_path, loaded, layer), rtol=0, atol=1e-4)
        assert made.attends == "causal"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_longer_than_its_positions_is_refused_or_cut(tmp_path: Path, kind: str) -> None:
    """Rotary models too: further than they were made for, their angles are not theirs."""
    loaded = opened(save(tmp_path, kind))
    text = "the cat sat on the mat " * 20
    found = len(loaded.tokenizer(text)["input_ids"])
    with pytest.raises(TextTooLong, match=f"The text has {found} tokens and the model 48 positions. .*cut to 48"):
        decompose(loaded.model, loaded.tokenizer, text)
    made = decompose(loaded.model, loaded.tokenizer, text, truncate=True)
    assert (len(made.tokens), made.provenance.truncated_from) == (48, found)


# Half precision --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("kind", ["gpt2", "llama"])
def test_weights_in_half_precision_are_taken_apart_in_float32_and_the_error_is_shown(
    tmp_path: Path, kind: str, dtype: torch.dtype
) -> None:
    """The scores and the error are of the model as it is stored; its terms are those of the same weights in float32."""
    loaded = opened(save(tmp_path, kind, dtype))
    assert loaded.dtype == dtype
    assert loaded.model.dtype == torch.float32
    made = TermsRequest(model=str(tmp_path), text=TEXT, layer=1).run(loaded)
    assert made.provenance.dtype == str(dtype).removeprefix("torch.")
    assert made.query.dtype == made.scores.dtype == np.float32
    assert 1e-6 < made.relative_error < 0.05
    single = decompose(loaded.model, loaded.tokenizer, TEXT, layer=1)
    assert single.relative_error < 1e-5
    np.testing.assert_allclose(made.total(), single.total(), rtol=0, atol=1e-5)
    # As transformers loads it: the softmax of the scores shown is its pattern, but for the rounding of that softmax.
    own = own_pattern(tmp_path, loaded, 1, dtype)
    np.testing.assert_allclose(made.pattern, own, rtol=0, atol=0.01)
    assert next(loaded.model.parameters()).dtype == torch.float32  # the model was left as it was


# What is wrong with it ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gpt2", "llama"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tmp_path: Path, kind: str, value: float) -> None:
    save(tmp_path, kind)
    model = KINDS[kind][0].from_pretrained(tmp_path)
    with torch.no_grad():
        list(model.parameters())[-2].view(-1)[3] = value
    model.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"weights that are not finite \(.*\); choose an intact checkpoint\."):
        opened(tmp_path)


def test_a_tokenizer_of_another_vocabulary_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "gpt2")
    tiny_tokenizer().save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"a tokenizer of 25 tokens but a model of 300; they do not belong together"):
        opened(tmp_path)
    with pytest.raises(ModelError, match=r"a tokenizer of 25 tokens but a model of 20;"):
        opened(save_tiny(tmp_path / "small", vocab_size=20))


def test_a_table_padded_by_some_rows_is_no_obstacle(tmp_path: Path) -> None:
    loaded = opened(save(tmp_path, "gpt2", vocab_size=320))
    assert decompose(loaded.model, loaded.tokenizer, TEXT).relative_error < 1e-5


def test_a_folder_with_pickled_weights_alone_is_refused(tmp_path: Path) -> None:
    save(tmp_path, "llama")
    (tmp_path / "model.safetensors").rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"holds only pytorch_model\.bin; Addend reads only safetensors"):
        resolve(str(tmp_path))


def test_weights_that_lie_there_twice_are_counted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mistral's repositories hold `consolidated.safetensors` beside what transformers reads."""
    save(tmp_path, "llama")
    weights = (tmp_path / "model.safetensors").read_bytes()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=len(weights) * 1.5))
    (tmp_path / "consolidated.safetensors").write_bytes(weights)
    assert opened(tmp_path).model.config.model_type == "llama"
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="holds no weights"):
        resolve(str(tmp_path))
