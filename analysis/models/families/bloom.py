"""BLOOM: no position embeddings; a bias that grows with the key's place is added to the scores (ALiBi)."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor, nn

from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput


class Bloom(Family):
    """`transformers` BloomModel and whatever wraps it (Le Scao et al. 2022; Press et al. 2022)."""

    title = "BLOOM"
    positions = "score_bias"
    own_attention = True

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The word alone: positions are in the scores, and are no summand."""
        return (OutputSource("word", model.base_model.word_embeddings),)

    def layers(self, model: Any) -> Sequence[Any]:
        """BloomBlock."""
        return list(model.base_model.h)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each block."""
        return [layer.self_attention for layer in self.layers(model)]

    def scale(self, module: Any) -> float:
        """1 / sqrt(head dim)."""
        return float(module.inv_norm_factor)

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """ALiBi, one row for all queries: softmax sees only differences along keys."""
        alibi = given["alibi"].unflatten(0, query.shape[:2])
        return [alibi.expand(*query.shape[:3], key.shape[2])]


FAMILIES.add("bloom", Bloom())
