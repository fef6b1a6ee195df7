"""RoFormer: queries and keys are rotated by position, in code of its own."""

from collections.abc import Mapping

import torch
from torch import Tensor

from analysis.models.families import FAMILIES, Family, Turns


class RoFormer(Family):
    """RoFormerModel (Su et al. 2021). Position multiplies, so no source of the input is position."""

    title = "RoFormer"
    positions = "rotated"
    custom_attention = True
    tables = (("word", "embeddings.word_embeddings"), ("segment", "embeddings.token_type_embeddings"))
    layer_list = "encoder.layer"
    attention = "attention.self"
    rotation = "encoder.embed_positions"
    """A table of sines and cosines, side by side."""

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """Decoders are refused."""
        if config.get("is_decoder"):
            return "it is set up as a decoder (is_decoder); the terms here are of the bidirectional encoder"
        return None

    def split_rotation(self, output: Turns) -> tuple[Tensor, Tensor]:
        """Sines come first."""
        assert isinstance(output, Tensor)
        sin, cos = output.chunk(2, -1)
        return cos, sin

    def join_rotation(self, cos: Tensor, sin: Tensor, like: Turns) -> Tensor:
        """One tensor again."""
        return torch.cat([sin, cos], -1)


FAMILIES.add("roformer", RoFormer())
