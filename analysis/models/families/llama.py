"""Llama: rotated queries and keys, RMSNorm without a bias, a gated feed-forward, keys shared by groups of queries."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class Llama(Family):
    """`transformers` LlamaModel and whatever wraps it (Touvron et al. 2023)."""

    title = "Llama"
    positions = "rotated"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The word alone: positions turn queries and keys, and are no summand."""
        return (OutputSource("word", model.base_model.embed_tokens),)

    def layers(self, model: Any) -> Sequence[Any]:
        """The decoder's layers."""
        return list(model.base_model.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.self_attn for layer in model.base_model.layers]

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """One for all layers."""
        return (model.base_model.rotary_emb,)

    def gated(self, config: Any) -> bool:
        """SwiGLU (Shazeer 2020)."""
        return True


FAMILIES.add("llama", Llama())
