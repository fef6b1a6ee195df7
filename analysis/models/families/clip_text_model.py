"""CLIP's text encoder: learned positions added, a causal mask, no norm at the input (Radford et al. 2021)."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class ClipText(Family):
    """`transformers` CLIPTextModel, as checkpoints of a text encoder alone hold it."""

    title = "CLIP (text)"

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The two tables that are summed."""
        tables = model.base_model.embeddings
        return OutputSource("word", tables.token_embedding), OutputSource("position", tables.position_embedding)

    def layers(self, model: Any) -> Sequence[Any]:
        """CLIPEncoderLayer."""
        return list(model.base_model.encoder.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The attention of each layer."""
        return [layer.self_attn for layer in self.layers(model)]


FAMILIES.add("clip_text_model", ClipText())
