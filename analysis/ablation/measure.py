"""Measures the size of a model's attention scores, layer by layer."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from transformers import AttentionInterface

from analysis.ablation.corpus import PackedWindows
from analysis.ablation.encoder import AddendForMaskedLM
from analysis.ablation.encoder.attention import eager

IMPLEMENTATION = "addend_measured"
WINDOWS = 32
_variances: list[float] = []


def _attention(
    module: nn.Module, query: Tensor, key: Tensor, value: Tensor, attention_mask: Tensor | None, **options: Any
) -> tuple[Tensor, Tensor | None]:
    scores = (query * options["scaling"]) @ key.transpose(2, 3)
    bias = options.get("position_bias")
    if isinstance(bias, Tensor):
        scores = scores + bias
    allowed = torch.ones_like(scores) if attention_mask is None else (attention_mask == 0).expand_as(scores).to(scores)
    key_count = allowed.sum(-1, keepdim=True)
    centered = (scores - (scores * allowed).sum(-1, keepdim=True) / key_count) * allowed
    _variances.append((centered.square().sum() / allowed.sum()).item())
    return eager(module, query, key, value, attention_mask, **options)


AttentionInterface.register(IMPLEMENTATION, _attention)


@torch.no_grad()
def score_variance(model: AddendForMaskedLM, valid: PackedWindows, device: str) -> list[float]:
    """Variance of the scores along the attended keys of a query, mean over queries and heads; one number a layer."""
    model.eval()
    original = model.config._attn_implementation or "eager"
    ids, segments = valid.packed(np.linspace(0, valid.count - 1, min(WINDOWS, valid.count)).astype(np.int64))
    _variances.clear()
    model.set_attn_implementation(IMPLEMENTATION)
    try:
        model.addend.hidden(torch.from_numpy(ids).to(device), None, torch.from_numpy(segments).to(device))
    finally:
        model.set_attn_implementation(original)
    return list(_variances)
