"""BigBird on texts that are short enough for it to attend everywhere: as BERT, with attention of its own code."""

from collections.abc import Sequence

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class BigBird(Bert):
    """`transformers` BigBirdModel (Zaheer et al. 2020). Its sparse attention, on longer texts, is left out."""

    title = "BigBird"
    custom_attention = True

    def attentions(self, model: PreTrainedModel) -> Sequence[nn.Module]:
        """The self-attention of each layer, which is full, as the model itself makes it when a short text comes."""
        from transformers import BigBirdModel  # here, since its module takes long to import

        encoder = model.base_model
        assert isinstance(encoder, BigBirdModel)
        encoder.set_attention_type("original_full")
        return super().attentions(model)

    def longest(self, config: PreTrainedConfig) -> int | None:
        """The longest text on which a model with sparse attention attends everywhere."""
        rows = super().longest(config)
        if config.attention_type == "original_full" or rows is None:
            return rows
        return min(rows, (5 + 2 * config.num_random_blocks) * config.block_size)


FAMILIES.add("big_bird", BigBird())
