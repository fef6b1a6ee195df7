"""ALBERT: BERT whose embeddings are projected up, and whose layers are few and used again and again."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Albert(Bert):
    """AlbertModel (Lan et al. 2020)."""

    title = "ALBERT"

    def layers(self, model: Any) -> Sequence[Any]:
        """AlbertLayer, as often as it is used: groups are shared evenly among num_hidden_layers."""
        config, groups = model.config, model.base_model.encoder.albert_layer_groups
        chosen = [
            groups[index * config.num_hidden_groups // config.num_hidden_layers]
            for index in range(config.num_hidden_layers)
        ]
        return [layer for group in chosen for layer in group.albert_layers]

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention for layer in self.layers(model)]


FAMILIES.add("albert", Albert())
