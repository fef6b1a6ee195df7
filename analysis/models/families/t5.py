"""T5's encoder: a bias for the distance is added to unscaled scores, and shared by all layers."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class T5(Family):
    """T5EncoderModel, also of checkpoints that have a decoder (Raffel et al. 2020; gated: Shazeer 2020)."""

    title = "T5 encoder"
    positions = "score_bias"
    loader = "T5EncoderModel"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The one table."""
        return (OutputSource("word", model.encoder.embed_tokens),)

    def layers(self, model: Any) -> Sequence[Any]:
        """T5Block."""
        return list(model.encoder.block)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [block.layer[0].SelfAttention for block in self.layers(model)]

    def gated(self, config: Any) -> bool:
        """Version 1.1 and after."""
        return bool(config.is_gated_act)


FAMILIES.add("t5", T5())
