"""CLIP's text encoder: learned positions added, a causal mask, no norm at the input (Radford et al. 2021)."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.seeds import Output, Seed


class ClipText(Family):
    """`transformers` CLIPTextModel, as checkpoints of a text encoder alone hold it."""

    title = "CLIP (text)"

    def seeds(self, model: Any) -> Sequence[Seed]:
        """The two tables that are summed."""
        tables = model.base_model.embeddings
        return Output("word", tables.token_embedding), Output("position", tables.position_embedding)

    def layers(self, model: Any) -> Sequence[Any]:
        """CLIPEncoderLayer."""
        return list(model.base_model.encoder.layers)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The attention of each layer."""
        return [layer.self_attn for layer in self.layers(model)]


FAMILIES.add("clip_text_model", ClipText())
