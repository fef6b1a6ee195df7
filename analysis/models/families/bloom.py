"""BLOOM: no position embeddings; a bias that grows with the key's place is added to the scores (ALiBi)."""

from collections.abc import Mapping, Sequence

from torch import Tensor, nn

from analysis.models.families import FAMILIES, Family
from analysis.models.submodules import attribute_number


class Bloom(Family):
    """`transformers` BloomModel and whatever wraps it (Le Scao et al. 2022; Press et al. 2022)."""

    title = "BLOOM"
    positions = "score_bias"
    custom_attention = True
    tables = (("word", "word_embeddings"),)
    """Positions are in the scores, and are no summand."""
    layer_list = "h"
    attention = "self_attention"

    def scale(self, module: nn.Module) -> float:
        """1 / sqrt(head dim)."""
        return attribute_number(module, "inv_norm_factor")

    def added(self, module: nn.Module, arguments: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """ALiBi, one row for all queries: softmax sees only differences along keys."""
        alibi = arguments["alibi"]
        assert isinstance(alibi, Tensor)
        return [alibi.unflatten(0, query.shape[:2]).expand(*query.shape[:3], key.shape[2])]


FAMILIES.add("bloom", Bloom())
