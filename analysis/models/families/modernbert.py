"""ModernBERT: queries and keys are rotated, attention is local in most layers, the feed-forward is gated."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class ModernBert(Family):
    """ModernBertModel (Warner et al. 2024). Position multiplies, so no source of the input is position."""

    title = "ModernBERT"
    positions = "rotated"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The one table."""
        return (OutputSource("word", model.base_model.embeddings.tok_embeddings),)

    def layers(self, model: Any) -> Sequence[Any]:
        """ModernBertEncoderLayer."""
        return list(model.base_model.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attn for layer in self.layers(model)]

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """One module, called once for local and once for global layers."""
        return (model.base_model.rotary_emb,)

    def gated(self, config: Any) -> bool:
        """GeGLU."""
        return True


FAMILIES.add("modernbert", ModernBert())
