"""One tiny model of every family, with random weights, and a batch for it: two rows, the second padded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from specimens import tiny_config
from torch import Tensor
from transformers import (
    BertModel,
    CLIPTextConfig,
    CLIPTextModel,
    CLIPVisionConfig,
    CLIPVisionModel,
    DeiTConfig,
    DeiTModel,
    Dinov2Config,
    Dinov2Model,
    ViTConfig,
    ViTMAEConfig,
    ViTMAEModel,
    ViTModel,
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
    padding = getattr(model.config, "pad_token_id", None) or 0
    found = {"input_ids": torch.where(mask.bool(), ids, padding), "attention_mask": mask}
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


def _tiny(kind: str, pad: int = 0, **changes: Any) -> Callable[[], Any]:
    """A model of transformers, three layers deep, that is named by its class less Model."""
    shape = {"vocab_size": 25, "hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 3}
    shape |= {"intermediate_size": 16, "max_position_embeddings": 40, "pad_token_id": pad}

    def build() -> Any:
        config = getattr(transformers, f"{kind.removesuffix('Encoder')}Config")(**(shape | changes))
        model = randomised(getattr(transformers, f"{kind}Model")._from_config(config, attn_implementation="eager"))
        if model._can_set_experts_implementation():
            model.set_experts_implementation("eager")  # the other one has no float64
        return model

    return build


GROUPED = {"num_key_value_heads": 2, "intermediate_size": 24}
"""Two queries to a key, and a gated unit of 24."""
YARN = {"rope_type": "yarn", "factor": 4.0, "rope_theta": 10_000.0, "original_max_position_embeddings": 10}
WORD = ("word", "bias")


def _t5(activation: str, kind: str = "T5") -> Callable[[], Any]:
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 16, "num_layers": 3, "num_heads": 4}
    return _tiny(f"{kind}Encoder", **sizes, feed_forward_proj=activation)


LATENT = {
    "num_key_value_heads": 4,
    "intermediate_size": 24,
    "q_lora_rank": 12,
    "kv_lora_rank": 10,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
}
"""Heads of six dimensions of content and four that turn, out of a latent of ten."""
EXPERTS = {
    "n_routed_experts": 4,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 8,
    "n_shared_experts": 1,
    "n_group": 1,
    "topk_group": 1,
    "first_k_dense_replace": 1,
}
"""The first layer is dense, the others choose two experts of four."""


IMAGE = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 16,
    "image_size": 12,
    "patch_size": 4,
}
"""Three by three patches."""


def _vision(kind: Any, config: Any, **changes: Any) -> Callable[[], Any]:
    return lambda: randomised(kind(config(**IMAGE, **changes)))


def images(height: int = 12, width: int = 12, **more: Tensor) -> Callable[[Any], Mapping[str, Any]]:
    """Two images of noise."""
    pixels = torch.randn(2, 3, height, width, generator=torch.Generator().manual_seed(4))
    return lambda model: {"pixel_values": pixels, **more}


def _clip_text() -> Any:
    sizes: dict[str, Any] = {"vocab_size": 25, "hidden_size": 32, "intermediate_size": 16, "num_hidden_layers": 2}
    ends: dict[str, Any] = {"bos_token_id": 2, "eos_token_id": 3, "max_position_embeddings": 40}
    return randomised(CLIPTextModel(CLIPTextConfig(**sizes, **ends, num_attention_heads=4)))


NOISE = torch.rand(2, 9, generator=torch.Generator().manual_seed(5))
"""By whose order ViT-MAE keeps patches."""
ASKED: Any = {"interpolate_pos_encoding": True}
ALL = ("word", "position", "segment", "bias")
SPECIMENS: dict[str, Specimen] = {
    "bert": Specimen(lambda: randomised(BertModel(tiny_config())), ALL),
    "roberta": Specimen(_tiny("Roberta", pad=1), ALL),
    "xlm-roberta": Specimen(_tiny("XLMRoberta", pad=1), ALL),
    "camembert": Specimen(_tiny("Camembert", pad=1), ALL),
    "big_bird": Specimen(_tiny("BigBird", attention_type="original_full"), ALL),
    "big_bird scaled words": Specimen(
        _tiny("BigBird", attention_type="original_full", rescale_embeddings=True, use_bias=False), ALL
    ),
    "distilbert": Specimen(_tiny("DistilBert", dim=32, hidden_dim=16, n_heads=4, n_layers=3)),
    "albert": Specimen(_tiny("Albert", embedding_size=12), ALL),
    "albert two groups of two": Specimen(
        _tiny("Albert", embedding_size=12, num_hidden_groups=2, inner_group_num=2), ALL
    ),
    "electra": Specimen(_tiny("Electra", embedding_size=12), ALL),
    "modernbert": Specimen(
        _tiny("ModernBert", local_attention=4, global_attn_every_n_layers=2, bos_token_id=2, eos_token_id=3),
        ("word",),
    ),
    "modernbert with biases": Specimen(
        _tiny("ModernBert", local_attention=4, norm_bias=True, attention_bias=True, bos_token_id=2, eos_token_id=3),
        ("word", "bias"),
    ),
    "t5": Specimen(_t5("relu"), ("word",), score_bias=True),
    "t5 gated": Specimen(_t5("gated-gelu"), ("word",), score_bias=True, gated=True),
    "mt5": Specimen(_t5("gated-gelu", "MT5"), ("word",), score_bias=True, gated=True),
    "umt5": Specimen(_t5("gated-gelu", "UMT5"), ("word",), score_bias=True, gated=True),
    "mpnet": Specimen(_tiny("MPNet", pad=1), score_bias=True),
    "roformer": Specimen(_tiny("RoFormer", embedding_size=12), ("word", "segment", "bias")),
    "roformer rotating values": Specimen(_tiny("RoFormer", rotary_value=True), ("word", "segment", "bias")),
    "deberta": Specimen(
        _tiny("Deberta", relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False),
        ("word", "bias"),
        score_bias=True,
    ),
    "deberta absolute positions too": Specimen(
        _tiny("Deberta", relative_attention=True, pos_att_type=["p2c"], type_vocab_size=2), ALL, score_bias=True
    ),
    "deberta not relative": Specimen(_tiny("Deberta")),
    "deberta-v2": Specimen(
        _tiny("DebertaV2", relative_attention=True, pos_att_type=["c2p", "p2c"], position_biased_input=False),
        ("word", "bias"),
        score_bias=True,
    ),
    "deberta-v2 as version 3": Specimen(
        _tiny(
            "DebertaV2",
            relative_attention=True,
            pos_att_type=["p2c", "c2p"],
            position_buckets=4,
            norm_rel_ebd="layer_norm",
            share_att_key=True,
            type_vocab_size=2,
        ),
        ALL,
        score_bias=True,
    ),
    "addend": Specimen(_addend("bert_a"), ALL),
    "addend concat_blocked, pre-norm": Specimen(_addend("concat_blocked", norm="pre"), ALL),
    "addend tupe_a": Specimen(_addend("tupe_a"), ALL),
    "addend bert_a_d": Specimen(_addend("bert_a_d"), ALL),
    "addend bert_r": Specimen(_addend("bert_r"), ALL, score_bias=True),
    "addend alibi": Specimen(_addend("alibi"), ("word", "segment", "bias"), score_bias=True),
    "addend rotary": Specimen(_addend("rotary"), ("word", "segment", "bias")),
    "addend causal_bert_a": Specimen(_addend("causal_bert_a"), ALL, causal=True),
    "gpt2": Specimen(_tiny("GPT2"), causal=True),
    "gpt2 scaled by layer": Specimen(
        _tiny("GPT2", scale_attn_by_inverse_layer_idx=True, scale_attn_weights=False), causal=True
    ),
    "gpt_neo": Specimen(
        _tiny(
            "GPTNeo",
            num_layers=3,
            num_heads=4,
            window_size=4,
            attention_types=[[["global", "local"], 1], [["global"], 1]],
        ),
        causal=True,
    ),
    "bloom": Specimen(_tiny("Bloom", n_layer=3, n_head=4), WORD, causal=True, score_bias=True),
    "opt": Specimen(_tiny("OPT", ffn_dim=24, word_embed_proj_dim=32), causal=True),
    "opt projected, post-norm": Specimen(
        _tiny("OPT", ffn_dim=24, word_embed_proj_dim=16, do_layer_norm_before=False), causal=True
    ),
    "gpt_neox": Specimen(_tiny("GPTNeoX", intermediate_size=24), WORD, causal=True),
    "gpt_neox in series": Specimen(
        _tiny("GPTNeoX", intermediate_size=24, use_parallel_residual=False), WORD, causal=True
    ),
    "llama": Specimen(_tiny("Llama", **GROUPED), ("word",), causal=True, gated=True),
    "llama with biases": Specimen(
        _tiny("Llama", **GROUPED, attention_bias=True, mlp_bias=True), WORD, causal=True, gated=True
    ),
    "llama with scaled rotations": Specimen(
        _tiny("Llama", **GROUPED, rope_parameters=YARN), ("word",), causal=True, gated=True
    ),
    "mistral": Specimen(_tiny("Mistral", **GROUPED, sliding_window=4), ("word",), causal=True, gated=True),
    "qwen2": Specimen(_tiny("Qwen2", **GROUPED), WORD, causal=True, gated=True),
    "qwen2 with a window": Specimen(
        _tiny("Qwen2", **GROUPED, use_sliding_window=True, sliding_window=4, max_window_layers=1),
        WORD,
        causal=True,
        gated=True,
    ),
    "qwen3": Specimen(_tiny("Qwen3", **GROUPED, head_dim=8), ("word",), causal=True, gated=True),
    "smollm3": Specimen(_tiny("SmolLM3", **GROUPED, no_rope_layer_interval=2), ("word",), causal=True, gated=True),
    "deepseek_v3": Specimen(_tiny("DeepseekV3", **LATENT, **EXPERTS), ("word",), causal=True, gated=True),
    "deepseek_v3 without a latent of queries, in halves": Specimen(
        _tiny("DeepseekV3", **LATENT | {"q_lora_rank": None}, **EXPERTS, rope_interleave=False),
        ("word",),
        causal=True,
        gated=True,
    ),
    "deepseek_v2": Specimen(_tiny("DeepseekV2", **LATENT, **EXPERTS), ("word",), causal=True, gated=True),
    "youtu": Specimen(_tiny("Youtu", **LATENT), ("word",), causal=True, gated=True),
    "glm4_moe_lite": Specimen(_tiny("Glm4MoeLite", **LATENT, **EXPERTS), ("word",), causal=True, gated=True),
    "minicpm3": Specimen(_tiny("MiniCPM3", **LATENT), ("word",), causal=True, gated=True),
    "mistral4": Specimen(_tiny("Mistral4", **LATENT, **EXPERTS), ("word",), causal=True, gated=True),
    "axk1": Specimen(_tiny("AXK1", **LATENT, **EXPERTS), ("word",), causal=True, gated=True),
    "vit": Specimen(_vision(ViTModel, ViTConfig), inputs=images()),
    "vit another size": Specimen(_vision(ViTModel, ViTConfig), inputs=images(16, 20, **ASKED)),
    "deit": Specimen(_vision(DeiTModel, DeiTConfig), inputs=images()),
    "deit another size": Specimen(_vision(DeiTModel, DeiTConfig), inputs=images(16, 20, **ASKED)),
    "dinov2": Specimen(_vision(Dinov2Model, Dinov2Config), inputs=images()),
    "dinov2 another size": Specimen(_vision(Dinov2Model, Dinov2Config), inputs=images(16, 20)),
    "dinov2 patches masked": Specimen(
        _vision(Dinov2Model, Dinov2Config), inputs=images(bool_masked_pos=NOISE.argsort(-1) < 3)
    ),
    "dinov2 gated": Specimen(_vision(Dinov2Model, Dinov2Config, use_swiglu_ffn=True), inputs=images()),
    "vit_mae": Specimen(_vision(ViTMAEModel, ViTMAEConfig, mask_ratio=0.0), inputs=images(noise=NOISE)),
    "vit_mae masked": Specimen(_vision(ViTMAEModel, ViTMAEConfig, mask_ratio=0.5), inputs=images(noise=NOISE)),
    "clip_vision_model": Specimen(_vision(CLIPVisionModel, CLIPVisionConfig), inputs=images()),
    "clip_vision_model another size": Specimen(
        _vision(CLIPVisionModel, CLIPVisionConfig), inputs=images(16, 20, **ASKED)
    ),
    "clip_text_model": Specimen(_clip_text, causal=True),
    "siglip_text_model": Specimen(_tiny("SiglipText", projection_size=32, bos_token_id=2, eos_token_id=3)),
}
"""By the family's model_type; further words tell specimens of one family apart."""


UNKNOWN_SHAPE: dict[str, Any] = {
    "vocab_size": 300,
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 3,
    "intermediate_size": 24,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "pad_token_id": 0,
}
"""Sizes of a tiny model of an architecture that no family knows."""
