"""CLIP's image encoder: a ViT with a norm before its first layer (Radford et al. 2021)."""

from collections.abc import Sequence

from jaxtyping import Float
from torch import Tensor
from transformers import PreTrainedModel

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches
from analysis.models.source_inputs import InputSource, SourceInput, WeightSource


class ClipVision(Patches):
    """`transformers` CLIPVisionModel, also inside a whole CLIP checkpoint. Its class embedding is word."""

    title = "CLIP (images)"
    layer_list = "encoder.layers"
    attention = "self_attn"

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """Its table of positions is an embedding, which is also interpolated as a whole."""
        embeddings = model.base_model.get_submodule("embeddings")
        return (
            InputSource("word", "pixel_values"),
            WeightSource("word", embeddings, "class_embedding"),
            WeightSource("position", embeddings.get_submodule("position_embedding"), "weight"),
        )

    def table(self, model: PreTrainedModel) -> Float[Tensor, "position width"]:
        """The table of positions as it is stored, the class token first."""
        return model.base_model.get_parameter("embeddings.position_embedding.weight")


FAMILIES.add("clip_vision_model", ClipVision())
