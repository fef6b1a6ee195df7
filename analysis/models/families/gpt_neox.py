"""GPT-NeoX and Pythia: a part of each query and key is rotated; attention and feed-forward read the same state."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class GptNeox(Family):
    """`transformers` GPTNeoXModel and whatever wraps it (Black et al. 2022; Biderman et al. 2023)."""

    title = "GPT-NeoX"
    positions = "rotated"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The word alone: positions turn queries and keys, and are no summand."""
        return (OutputSource("word", model.base_model.embed_in),)

    def layers(self, model: Any) -> Sequence[Any]:
        """GPTNeoXLayer."""
        return list(model.base_model.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention for layer in model.base_model.layers]

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """One for all layers."""
        return (model.base_model.rotary_emb,)


FAMILIES.add("gpt_neox", GptNeox())
