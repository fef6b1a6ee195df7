"""T5's encoder: no positions in the input; a learned bias by distance is added to the scores of every layer."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.seeds import Output, Seed


class T5(Family):
    """`transformers` T5EncoderModel (Raffel et al. 2020); the decoder of a whole T5 is left out."""

    title = "T5 encoder"
    positions = "score_bias"
    loader = "T5EncoderModel"

    def seeds(self, model: Any) -> Sequence[Seed]:
        """The word alone."""
        return (Output("word", model.encoder.embed_tokens),)

    def layers(self, model: Any) -> Sequence[Any]:
        """T5Block."""
        return list(model.encoder.block)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each block."""
        return [block.layer[0].SelfAttention for block in self.layers(model)]

    def gated(self, config: Any) -> bool:
        """GeGLU in T5 1.1 and Flan-T5 (Shazeer 2020), ReLU in the first T5."""
        return bool(config.is_gated_act)


FAMILIES.add("t5", T5())
