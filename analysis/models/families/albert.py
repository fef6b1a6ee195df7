"""ALBERT: BERT's tables at a smaller width, projected; one layer (or a few) passed again and again."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Albert(Bert):
    """`transformers` AlbertModel and whatever wraps it (Lan et al. 2020)."""

    title = "ALBERT"

    def layers(self, model: Any) -> Sequence[Any]:
        """AlbertLayer as often as it is passed, by its group."""
        config, groups = model.config, model.base_model.encoder.albert_layer_groups
        per_group = config.num_hidden_layers / config.num_hidden_groups
        return [layer for i in range(config.num_hidden_layers) for layer in groups[int(i / per_group)].albert_layers]

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each pass."""
        return [layer.attention for layer in self.layers(model)]


FAMILIES.add("albert", Albert())
