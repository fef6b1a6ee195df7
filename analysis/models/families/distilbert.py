"""DistilBERT: half of BERT's layers, and no segments."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class DistilBert(Family):
    """DistilBertModel (Sanh et al. 2019)."""

    title = "DistilBERT"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed."""
        tables = model.base_model.embeddings
        return (OutputSource("word", tables.word_embeddings), OutputSource("position", tables.position_embeddings))

    def layers(self, model: Any) -> Sequence[Any]:
        """TransformerBlock."""
        return list(model.base_model.transformer.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention for layer in self.layers(model)]


FAMILIES.add("distilbert", DistilBert())
