"""One tiny model of every family, with random weights, and a batch for it: two rows, the second padded."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
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
    inputs: Callable[[Any], Mapping[str, Tensor]] | None = None
    """Its batch, where that is not token ids."""
    tolerance: float = 1e-5
    """Of the range of the scores, in float32."""


def ids(model: Any) -> dict[str, Tensor]:
    """Two rows of token ids, the second padded on the right."""
    rng = torch.Generator().manual_seed(3)
    ids = torch.randint(5, 25, (2, LENGTHS[0]), generator=rng)
    mask = (torch.arange(LENGTHS[0])[None] < torch.tensor(LENGTHS)[:, None]).long()
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
    "addend": Specimen(_addend("bert_a"), ALL),
    "addend concat_blocked, pre-norm": Specimen(_addend("concat_blocked", norm="pre"), ALL),
    "addend tupe_a": Specimen(_addend("tupe_a"), ALL),
    "addend bert_a_d": Specimen(_addend("bert_a_d"), ALL),
    "addend bert_r": Specimen(_addend("bert_r"), ALL, score_bias=True),
    "addend alibi": Specimen(_addend("alibi"), ("word", "segment", "bias"), score_bias=True),
    "addend rotary": Specimen(_addend("rotary"), ("word", "segment", "bias")),
    "addend causal_bert_a": Specimen(_addend("causal_bert_a"), ALL, causal=True),
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
}
"""By the family's model_type; further words tell specimens of one family apart."""
