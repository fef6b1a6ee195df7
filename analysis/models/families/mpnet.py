"""MPNet: BERT's sum of word and position, and T5's bias for the distance added to the scores."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class MpNet(Family):
    """MPNetModel (Song et al. 2020). Positions count the tokens before, from 2."""

    title = "MPNet"
    own_attention = True

    def longest(self, config: Any) -> int:
        """Rows of the position table less the first two, which no token uses."""
        return config.max_position_embeddings - 2

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed."""
        tables = model.base_model.embeddings
        return (OutputSource("word", tables.word_embeddings), OutputSource("position", tables.position_embeddings))

    def layers(self, model: Any) -> Sequence[Any]:
        """MPNetLayer."""
        return list(model.base_model.encoder.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention.attn for layer in self.layers(model)]

    def scale(self, module: Any) -> float:
        """As in Vaswani et al. 2017."""
        return module.attention_head_size**-0.5

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """The bias, made once and given to every layer."""
        bias = given.get("position_bias")
        return [] if bias is None else [bias]


FAMILIES.add("mpnet", MpNet())
