"""DeBERTa: words are compared with words, and with relative positions in terms of their own.

c2p and p2c are products of hidden states with embeddings of the distance, which are no source of the input: their
sum is the score bias here. The sixteen terms take the rest apart, c2c, which holds absolute positions too where
`position_biased_input` adds them to the words (as the defaults of transformers have it).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from analysis.models.families import FAMILIES, Family
from analysis.models.seeds import Output, Seed


class Deberta(Family):
    """DebertaModel, version 1 (He et al. 2021)."""

    title = "DeBERTa"
    positions = "disentangled"
    own_attention = True
    distances = "relative_pos"

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """What mixes the scores of heads is refused."""
        if config.get("talking_head"):
            return "its heads exchange scores before the softmax (talking_head), so no head's are products of its own"
        return None

    def seeds(self, model: Any) -> Sequence[Seed]:
        """The tables that are summed; two of them may be missing."""
        tables = model.base_model.embeddings
        kinds = {
            "word": tables.word_embeddings,
            "position": tables.position_embeddings,
            "segment": tables.token_type_embeddings,
        }
        return [Output(source, table) for source, table in kinds.items() if table is not None]

    def layers(self, model: Any) -> Sequence[Any]:
        """DebertaLayer."""
        return list(model.base_model.encoder.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention.self for layer in self.layers(model)]

    def scale(self, module: Any) -> float:
        """1: the queries are divided before they meet the keys."""
        return 1.0

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Tensor | None:
        """c2p and p2c, by the module's own method."""
        if not module.relative_attention:
            return None
        factor = 1 + len(module.pos_att_type)
        bias = module.disentangled_att_bias(query, key, given["relative_pos"], given["rel_embeddings"], factor)
        return bias if isinstance(bias, Tensor) else None


class DebertaV2(Deberta):
    """DebertaV2Model, versions 2 and 3 (He et al. 2021, 2023)."""

    title = "DeBERTa v2/v3"

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """A convolution beside the first layer is refused."""
        if (config.get("conv_kernel_size") or 0) > 0:
            return (
                "a convolution over neighbouring tokens is added to its first layer (conv_kernel_size), whose "
                "activation has no rule here. Choose one without, such as version 3"
            )
        return super().refusal(config)

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Tensor | None:
        """c2p and p2c, by the module's own method, which wants the keys before they are divided."""
        if not module.relative_attention:
            return None
        factor = 1 + sum(kind in module.pos_att_type for kind in ("c2p", "p2c"))
        whole = key * torch.tensor(key.shape[-1] * factor, dtype=torch.float).sqrt().to(key.dtype)
        flat = (x.flatten(0, 1) for x in (query, whole))
        bias = module.disentangled_attention_bias(*flat, given["relative_pos"], given["rel_embeddings"], factor)
        return bias.view(*query.shape[:3], key.shape[2]) if isinstance(bias, Tensor) else None


FAMILIES.add("deberta", Deberta())
FAMILIES.add("deberta-v2", DebertaV2())
