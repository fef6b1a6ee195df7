"""ModernBERT: rotated queries and keys, most layers looking 64 tokens to each side, a gated feed-forward."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.seeds import Output, Seed


class ModernBert(Family):
    """`transformers` ModernBertModel and whatever wraps it (Warner et al. 2024)."""

    title = "ModernBERT"
    positions = "rotated"

    def seeds(self, model: Any) -> Sequence[Seed]:
        """The word alone: positions turn queries and keys, and are no summand."""
        return (Output("word", model.base_model.embeddings.tok_embeddings),)

    def layers(self, model: Any) -> Sequence[Any]:
        """ModernBertEncoderLayer."""
        return list(model.base_model.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attn for layer in self.layers(model)]

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """One module, asked once for local and once for global layers."""
        return (model.base_model.rotary_emb,)

    def gated(self, config: Any) -> bool:
        """GeGLU (Shazeer 2020)."""
        return True


FAMILIES.add("modernbert", ModernBert())
