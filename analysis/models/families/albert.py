"""ALBERT: BERT whose embeddings are projected up, and whose layers are few and used again and again."""

from collections.abc import Sequence

from torch import nn
from transformers import PreTrainedModel

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert
from analysis.models.submodules import submodule_list


class Albert(Bert):
    """AlbertModel (Lan et al. 2020)."""

    title = "ALBERT"
    attention = "attention"

    def layers(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """AlbertLayer, as often as it is used: groups are shared evenly among num_hidden_layers."""
        config, groups = model.config, submodule_list(model.base_model, "encoder.albert_layer_groups")
        used_groups = [
            groups[index * config.num_hidden_groups // config.num_hidden_layers]
            for index in range(config.num_hidden_layers)
        ]
        return [layer for group in used_groups for layer in submodule_list(group, "albert_layers")]


FAMILIES.add("albert", Albert())
