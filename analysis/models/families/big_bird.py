"""BigBird on texts that are short enough for it to attend everywhere: as BERT, with attention of its own code."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class BigBird(Bert):
    """`transformers` BigBirdModel (Zaheer et al. 2020). Its sparse attention, on longer texts, is left out."""

    title = "BigBird"
    own_attention = True

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer, which is full, as the model itself makes it when a short text comes."""
        model.base_model.set_attention_type("original_full")
        return super().attentions(model)

    def longest(self, config: Any) -> int | None:
        """The longest text on which a model with sparse attention attends everywhere."""
        rows = super().longest(config)
        if config.attention_type == "original_full" or rows is None:
            return rows
        return min(rows, (5 + 2 * config.num_random_blocks) * config.block_size)

    def scale(self, module: Any) -> float:
        """As in Vaswani et al. 2017."""
        return module.attention_head_size**-0.5


FAMILIES.add("big_bird", BigBird())
