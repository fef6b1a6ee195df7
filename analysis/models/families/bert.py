"""BERT: learned absolute positions and segments, added to the word and normalised together."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class Bert(Family):
    """`transformers` BertModel and whatever wraps it (Devlin et al. 2019)."""

    title = "BERT"

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Relative positions are refused: transformers 5 would drop them without a word."""
        kind = config.get("position_embedding_type") or "absolute"
        if kind != "absolute":
            return (
                f"its positions are {kind!r}, which transformers 5 no longer implements for {self.title}: it would "
                "load the checkpoint without them and compute something else. Choose one with absolute positions"
            )
        if config.get("is_decoder"):
            return "it is set up as a decoder (is_decoder); the terms here are of the bidirectional encoder"
        return None

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The three tables that are summed."""
        tables = model.base_model.embeddings
        return (
            OutputSource("word", tables.word_embeddings),
            OutputSource("position", tables.position_embeddings),
            OutputSource("segment", tables.token_type_embeddings),
        )

    def layers(self, model: Any) -> Sequence[Any]:
        """BertLayer."""
        return list(model.base_model.encoder.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention.self for layer in self.layers(model)]


FAMILIES.add("bert", Bert())
