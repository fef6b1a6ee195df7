"""DeBERTa: words are compared with words, and with relative positions in terms of their own.

c2p and p2c are products of hidden states with embeddings of the distance, which are no source of the input: each is
a term of its own, `content_to_distance` and `distance_to_content`. The sixteen terms take the rest apart, c2c, which
holds absolute positions too where `position_biased_input` adds them to the words (as the defaults of transformers have
it).
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from analysis.core.term_names import DISENTANGLED
from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput

KINDS = dict(zip(("c2p", "p2c"), DISENTANGLED, strict=True))
"""What the config's `pos_att_type` calls the terms, in the order in which the model adds them."""


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

    def source_inputs(self, model: Any) -> Sequence[SourceInput]:
        """The tables that are summed; two of them may be missing."""
        tables = model.base_model.embeddings
        kinds = {
            "word": tables.word_embeddings,
            "position": tables.position_embeddings,
            "segment": tables.token_type_embeddings,
        }
        return [OutputSource(source, table) for source, table in kinds.items() if table is not None]

    def layers(self, model: Any) -> Sequence[Any]:
        """DebertaLayer."""
        return list(model.base_model.encoder.layer)

    def attentions(self, model: Any) -> Sequence[nn.Module]:
        """The self-attention of each layer."""
        return [layer.attention.self for layer in self.layers(model)]

    def scale(self, module: Any) -> float:
        """1: the queries are divided before they meet the keys."""
        return 1.0

    def bias_terms(self, config: Any) -> tuple[str, ...]:
        """c2p and p2c, those that the model has."""
        return tuple(term for kind, term in KINDS.items() if kind in (config.pos_att_type or ()))

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """c2p and p2c, by the module's own method."""
        if not module.relative_attention:
            return ()
        factor = 1 + len(module.pos_att_type)
        return [
            alone.disentangled_att_bias(query, key, given["relative_pos"], given["rel_embeddings"], factor)
            for alone in _each_alone(module)
        ]


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

    def added(self, module: Any, given: Mapping[str, Any], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """c2p and p2c, by the module's own method, which wants the keys before they are divided."""
        if not module.relative_attention:
            return ()
        factor = 1 + sum(kind in module.pos_att_type for kind in ("c2p", "p2c"))
        whole = key * torch.tensor(key.shape[-1] * factor, dtype=torch.float).sqrt().to(key.dtype)
        flat = [x.flatten(0, 1) for x in (query, whole)]
        each = [
            alone.disentangled_attention_bias(*flat, given["relative_pos"], given["rel_embeddings"], factor)
            for alone in _each_alone(module)
        ]
        return [bias.view(*query.shape[:3], key.shape[2]) for bias in each]


def _each_alone(module: Any) -> list[Any]:
    """Copies of an attention module that share its weights, each of which adds one of its terms."""
    copies = []
    for kind in KINDS:
        if kind in module.pos_att_type:
            alone = copy.copy(module)
            alone.pos_att_type = [kind]
            copies.append(alone)
    return copies


FAMILIES.add("deberta", Deberta())
FAMILIES.add("deberta-v2", DebertaV2())
