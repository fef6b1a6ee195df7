"""One tiny model of every family, with random weights, and a batch for it: two rows, the second padded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from specimens import tiny_config
from torch import Tensor
from transformers import (
    AlbertConfig,
    AlbertModel,
    BertModel,
    CamembertConfig,
    CamembertModel,
    DistilBertConfig,
    DistilBertModel,
    ElectraConfig,
    ElectraModel,
    GPT2Config,
    GPT2Model,
    GPTNeoXConfig,
    GPTNeoXModel,
    LlamaConfig,
    LlamaModel,
    MistralConfig,
    MistralModel,
    ModernBertConfig,
    ModernBertModel,
    OPTConfig,
    OPTModel,
    Qwen2Config,
    Qwen2Model,
    Qwen3Config,
    Qwen3Model,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5EncoderModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from analysis.ablation.encoder import AddendConfig, AddendModel
from analysis.ablation.variants import VARIANTS

LENGTHS = (9, 6)
"""Tokens of the two rows."""


@dataclass(frozen=True)
class Specimen:
    """How to build a tiny model of a family, and what is particular to it."""

    build: Callable[[], Any]
    sources: tuple[str, ...] = ("word", "position", "bias")
    """The sources that its queries have at the last layer."""
    causal: bool = False
    score_bias: bool = False
    gated: bool = False
    inputs: Callable[[Any], Mapping[str, Tensor]] | None = None
    """Its batch, where that is not token ids."""
    tolerance: float = 1e-5
    """Of the range of the scores, in float32."""


def ids(model: Any, left: bool = False) -> dict[str, Tensor]:
    """Two rows of token ids, the second padded on the right, or on the left."""
    rng = torch.Generator().manual_seed(3)
    ids = torch.randint(5, 25, (2, LENGTHS[0]), generator=rng)
    mask = (torch.arange(LENGTHS[0])[None] < torch.tensor(LENGTHS)[:, None]).long()
    mask = mask.flip(1) if left else mask
    found = {"input_ids": ids * mask, "attention_mask": mask}
    if int(getattr(model.config, "type_vocab_size", 0) or 0) > 1:
        found["token_type_ids"] = (torch.arange(LENGTHS[0]) > 3).long().expand(2, -1) * mask
    return found


def randomised(model: Any, deviation: float = 0.4) -> Any:
    """Weights large enough for softmax to be far from uniform, norms and biases far from 1 and 0."""
    rng = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim == 1:
                weight.normal_(0.3, 0.5, generator=rng)
            else:
                weight.normal_(0, deviation, generator=rng)
    return model.eval()


def _addend(name: str, **changes: Any) -> Callable[[], Any]:
    def build() -> Any:
        shape = {"vocab_size": 25, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
        fields = VARIANTS[name].fields(hidden_size=40, heads=4)
        return randomised(AddendModel(AddendConfig(**{**shape, "max_position_embeddings": 40, **fields, **changes})))

    return build


def _of(kind: Any, config: Any, **changes: Any) -> Callable[[], Any]:
    """A model that transformers builds from its config, shrunk."""

    def build() -> Any:
        shape = {"vocab_size": 25, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 3}
        return randomised(kind(config(**shape | {"max_position_embeddings": 40, "pad_token_id": 0} | changes)))

    return build


TWO = {"intermediate_size": 24, "type_vocab_size": 2}
NEAR = {"intermediate_size": 24, "global_attn_every_n_layers": 2, "local_attention": 4}
T5_SHAPE = {"d_kv": 8, "d_ff": 24}
ROBERTA = {**TWO, "pad_token_id": 1, "type_vocab_size": 1}
"""Ids of 0 are no padding to it: the padded row's positions count only what is not 1."""
GROUPED = {"num_key_value_heads": 2, "intermediate_size": 24}
"""Two queries to a key, and a gated unit of 24."""
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10_000.0, "original_max_position_embeddings": 10}
WORD = ("word", "bias")
ALL = ("word", "position", "segment", "bias")
SPECIMENS: dict[str, Specimen] = {
    "bert": Specimen(lambda: randomised(BertModel(tiny_config())), ALL),
    "addend": Specimen(_addend("bert_a"), ALL),
    "addend concat_blocked, pre-norm": Specimen(_addend("concat_blocked", norm="pre"), ALL),
    "addend tupe_a": Specimen(_addend("tupe_a"), ALL),
    "addend bert_a_d": Specimen(_addend("bert_a_d"), ALL),
    "addend bert_r": Specimen(_addend("bert_r"), ALL, score_bias=True),
    "addend alibi": Specimen(_addend("alibi"), ("word", "segment", "bias"), score_bias=True),
    "addend rotary": Specimen(_addend("rotary"), ("word", "segment", "bias")),
    "addend causal_bert_a": Specimen(_addend("causal_bert_a"), ALL, causal=True),
    "roberta": Specimen(_of(RobertaModel, RobertaConfig, **ROBERTA), ALL),
    "xlm-roberta": Specimen(_of(XLMRobertaModel, XLMRobertaConfig, **ROBERTA), ALL),
    "camembert": Specimen(_of(CamembertModel, CamembertConfig, **ROBERTA), ALL),
    "electra": Specimen(_of(ElectraModel, ElectraConfig, **TWO, embedding_size=16), ALL),
    "electra of one width": Specimen(_of(ElectraModel, ElectraConfig, **TWO, embedding_size=32), ALL),
    "albert": Specimen(_of(AlbertModel, AlbertConfig, **TWO, embedding_size=16), ALL),
    "albert of two groups": Specimen(
        _of(AlbertModel, AlbertConfig, **TWO, embedding_size=16, num_hidden_groups=2, num_hidden_layers=4), ALL
    ),
    "distilbert": Specimen(_of(DistilBertModel, DistilBertConfig, dim=32, hidden_dim=24)),
    "modernbert": Specimen(_of(ModernBertModel, ModernBertConfig, **NEAR), ("word",), gated=True),
    "modernbert with biases": Specimen(
        _of(ModernBertModel, ModernBertConfig, **NEAR, norm_bias=True, mlp_bias=True, attention_bias=True),
        WORD,
        gated=True,
    ),
    "t5": Specimen(_of(T5EncoderModel, T5Config, **T5_SHAPE), ("word",), score_bias=True),
    "t5 gated": Specimen(
        _of(T5EncoderModel, T5Config, **T5_SHAPE, feed_forward_proj="gated-gelu"),
        ("word",),
        score_bias=True,
        gated=True,
    ),
    "gpt2": Specimen(_of(GPT2Model, GPT2Config), causal=True),
    "gpt2 scaled by layer": Specimen(
        _of(GPT2Model, GPT2Config, scale_attn_by_inverse_layer_idx=True, scale_attn_weights=False), causal=True
    ),
    "opt": Specimen(_of(OPTModel, OPTConfig, ffn_dim=24, word_embed_proj_dim=32), causal=True),
    "opt projected, post-norm": Specimen(
        _of(OPTModel, OPTConfig, ffn_dim=24, word_embed_proj_dim=16, do_layer_norm_before=False), causal=True
    ),
    "gpt_neox": Specimen(_of(GPTNeoXModel, GPTNeoXConfig, intermediate_size=24), WORD, causal=True),
    "gpt_neox in series": Specimen(
        _of(GPTNeoXModel, GPTNeoXConfig, intermediate_size=24, use_parallel_residual=False), WORD, causal=True
    ),
    "llama": Specimen(_of(LlamaModel, LlamaConfig, **GROUPED), ("word",), causal=True, gated=True),
    "llama with biases": Specimen(
        _of(LlamaModel, LlamaConfig, **GROUPED, attention_bias=True, mlp_bias=True), WORD, causal=True, gated=True
    ),
    "llama with scaled rotations": Specimen(
        _of(LlamaModel, LlamaConfig, **GROUPED, rope_parameters=YARN), ("word",), causal=True, gated=True
    ),
    "mistral": Specimen(
        _of(MistralModel, MistralConfig, **GROUPED, sliding_window=4), ("word",), causal=True, gated=True
    ),
    "qwen2": Specimen(_of(Qwen2Model, Qwen2Config, **GROUPED), WORD, causal=True, gated=True),
    "qwen2 with a window": Specimen(
        _of(Qwen2Model, Qwen2Config, **GROUPED, use_sliding_window=True, sliding_window=4, max_window_layers=1),
        WORD,
        causal=True,
        gated=True,
    ),
    "qwen3": Specimen(_of(Qwen3Model, Qwen3Config, **GROUPED, head_dim=8), ("word",), causal=True, gated=True),
}
"""By the family's model_type; further words tell specimens of one family apart."""
