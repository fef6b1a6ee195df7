"""RoFormer: queries and keys are rotated by position, in code of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class RoFormer(Family):
    """RoFormerModel (Su et al. 2021). Position multiplies, so no source of the input is position."""

    title = "RoFormer"
    positions = "rotated"
    own_attention = True

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Decoders are refused."""
        if config.get("is_decoder"):
            return "it is set up as a decoder (is_decoder); the terms here are of the bidirectional encoder"
        return None

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed."""
        tables = model.base_model.embeddings
        return (OutputSource("word", tables.word_embeddings), OutputSource("segment", tables.token_type_embeddings))

    def layers(self, model: Any) -> Sequence[Any]:
        """RoFormerLayer."""
        return list(model.base_model.encoder.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention.self for layer in self.layers(model)]

    def rotations(self, model: Any) -> Sequence[nn.Module]:
        """A table of sines and cosines, side by side."""
        return (model.base_model.encoder.embed_positions,)

    def turns_of(self, given: Any) -> tuple[Tensor, Tensor]:
        """Sines come first."""
        sin, cos = given.chunk(2, -1)
        return cos, sin

    def turns_as_given(self, cos: Tensor, sin: Tensor) -> Tensor:
        """One tensor again."""
        return torch.cat([sin, cos], -1)

    def scale(self, module: Any) -> float:
        """As in Vaswani et al. 2017."""
        return module.attention_head_size**-0.5


FAMILIES.add("roformer", RoFormer())
