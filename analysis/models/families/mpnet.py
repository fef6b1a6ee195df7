"""MPNet: BERT's sum of word and position, and T5's bias for the distance added to the scores."""

from collections.abc import Mapping, Sequence

from torch import Tensor, nn
from transformers import PreTrainedConfig

from analysis.models.families import FAMILIES, Family


class MpNet(Family):
    """MPNetModel (Song et al. 2020). Positions count the tokens before, from 2."""

    title = "MPNet"
    custom_attention = True
    tables = (("word", "embeddings.word_embeddings"), ("position", "embeddings.position_embeddings"))
    layer_list = "encoder.layer"
    attention = "attention.attn"

    def longest(self, config: PreTrainedConfig) -> int:
        """Rows of the position table less the first two, which no token uses."""
        return config.max_position_embeddings - 2

    def added(self, module: nn.Module, arguments: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """The bias, made once and given to every layer."""
        bias = arguments.get("position_bias")
        return [bias] if isinstance(bias, Tensor) else []


FAMILIES.add("mpnet", MpNet())
