"""CLIP's image encoder: a ViT with a norm before its first layer (Radford et al. 2021)."""

from collections.abc import Sequence
from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches
from analysis.models.source_inputs import InputSource, SourceInput, WeightSource


class ClipVision(Patches):
    """`transformers` CLIPVisionModel, also inside a whole CLIP checkpoint. Its class embedding is word."""

    title = "CLIP (images)"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """Its table of positions is an embedding, which is also interpolated as a whole."""
        inside = model.base_model.embeddings
        return (
            InputSource("word", "pixel_values"),
            WeightSource("word", inside, "class_embedding"),
            WeightSource("position", inside.position_embedding, "weight"),
        )

    def layers(self, model: Any) -> Sequence[Any]:
        """CLIPEncoderLayer."""
        return list(model.base_model.encoder.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The attention of each layer."""
        return [layer.self_attn for layer in self.layers(model)]

    def table(self, model: Any) -> Float[Tensor, "position width"]:
        """The table of positions as it is stored, the class token first."""
        return model.base_model.embeddings.position_embedding.weight


FAMILIES.add("clip_vision_model", ClipVision())
