"""OPT: learned absolute positions, of which the first two rows are spare, added to the word."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class Opt(Family):
    """`transformers` OPTModel and whatever wraps it (Zhang et al. 2022)."""

    title = "OPT"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed; where the word's is narrower, what projects it is linear."""
        decoder = model.base_model.decoder
        return OutputSource("word", decoder.embed_tokens), OutputSource("position", decoder.embed_positions)

    def layers(self, model: Any) -> Sequence[Any]:
        """OPTDecoderLayer."""
        return list(model.base_model.decoder.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.self_attn for layer in model.base_model.decoder.layers]


FAMILIES.add("opt", Opt())
