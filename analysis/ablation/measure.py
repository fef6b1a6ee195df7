"""How large a model's scores are, layer by layer."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from analysis.ablation.corpus import Windows
from analysis.ablation.encoder import AddendForMaskedLM
from analysis.ablation.encoder.attention import eager

MEASURED = "addend_measured"
WINDOWS = 32
_seen: list[float] = []


def _measured(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **more: Any
) -> tuple[Tensor, Tensor | None]:
    scores = (query * more["scaling"]) @ key.transpose(2, 3)
    bias = more.get("position_bias")
    if isinstance(bias, Tensor):
        scores = scores + bias
    allowed = torch.ones_like(scores) if attention_mask is None else (attention_mask == 0).expand_as(scores).to(scores)
    keys = allowed.sum(-1, keepdim=True)
    centred = (scores - (scores * allowed).sum(-1, keepdim=True) / keys) * allowed
    _seen.append((centred.square().sum() / allowed.sum()).item())
    return eager(module, query, key, value, attention_mask, **more)


AttentionInterface.register(MEASURED, _measured)


@torch.no_grad()
def score_variance(model: AddendForMaskedLM, valid: Windows, device: str) -> list[float]:
    """Variance of the scores along the attended keys of a query, mean over queries and heads; one number a layer."""
    model.eval()
    before = model.config._attn_implementation or "eager"
    ids, segments = valid.packed(np.linspace(0, valid.count - 1, min(WINDOWS, valid.count)).astype(np.int64))
    _seen.clear()
    model.set_attn_implementation(MEASURED)
    try:
        model.addend.hidden(torch.from_numpy(ids).to(device), None, torch.from_numpy(segments).to(device))
    finally:
        model.set_attn_implementation(before)
    return list(_seen)
