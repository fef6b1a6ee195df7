"""DeBERTa: words are compared with words, and with relative positions in terms of their own.

c2p and p2c are products of hidden states with embeddings of the distance, which are no source of the input: each is
a term of its own, `content_to_distance` and `distance_to_content`. The sixteen terms take the rest apart, c2c, which
holds absolute positions too where `position_biased_input` adds them to the words (as the defaults of transformers have
it).
"""

import copy
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar, runtime_checkable

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig, PreTrainedModel

from analysis.core.term_names import DISENTANGLED
from analysis.models.families import FAMILIES, Family
from analysis.models.source_inputs import OutputSource, SourceInput

KINDS = dict(zip(("c2p", "p2c"), DISENTANGLED, strict=True))
"""The names that the config's `pos_att_type` has for the terms, in the order in which the model adds them."""


@runtime_checkable
class DisentangledAttention(Protocol):
    """The members of DisentangledSelfAttention that are used, in every version."""

    relative_attention: bool
    pos_att_type: list[str]
    """The terms that it adds, as `KINDS` names them."""


@runtime_checkable
class DisentangledAttentionV1(DisentangledAttention, Protocol):
    """Of version 1. Factors and what it gives are (batch head token dim) and (batch head query key)."""

    def disentangled_att_bias(
        self, query_layer: Tensor, key_layer: Tensor, relative_pos: Tensor, rel_embeddings: Tensor, scale_factor: int
    ) -> Tensor:
        """The sum of the terms that it adds."""
        ...


@runtime_checkable
class DisentangledAttentionV2(DisentangledAttention, Protocol):
    """Of versions 2 and 3. Batch and heads are one dimension."""

    def disentangled_attention_bias(
        self, query_layer: Tensor, key_layer: Tensor, relative_pos: Tensor, rel_embeddings: Tensor, scale_factor: int
    ) -> Tensor:
        """The sum of the terms that it adds."""
        ...


Attention = TypeVar("Attention", bound=DisentangledAttention)


class Deberta(Family):
    """DebertaModel, version 1 (He et al. 2021)."""

    title = "DeBERTa"
    positions = "disentangled"
    custom_attention = True
    distances = "relative_pos"
    layer_list = "encoder.layer"
    attention = "attention.self"

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """A config whose model mixes the scores of heads is refused."""
        if config.get("talking_head"):
            return (
                "its heads exchange scores before the softmax (talking_head), so the scores of a head are not its "
                "own products"
            )
        return None

    def source_inputs(self, model: PreTrainedModel) -> Sequence[SourceInput]:
        """The tables that are summed; two of them may be missing."""
        tables = dict(model.base_model.get_submodule("embeddings").named_children())
        kinds = {"word": "word_embeddings", "position": "position_embeddings", "segment": "token_type_embeddings"}
        return [OutputSource(source, tables[name]) for source, name in kinds.items() if name in tables]

    def scale(self, module: nn.Module) -> float:
        """1: the queries are divided before they meet the keys."""
        return 1.0

    def bias_terms(self, config: PreTrainedConfig) -> tuple[str, ...]:
        """c2p and p2c, those that the model has."""
        return tuple(term for kind, term in KINDS.items() if kind in (config.pos_att_type or ()))

    def added(self, module: nn.Module, arguments: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """c2p and p2c, by the module's own method."""
        assert isinstance(module, DisentangledAttentionV1)
        if not module.relative_attention:
            return ()
        factor = 1 + len(module.pos_att_type)
        distances, table = _distances(arguments)
        return [part.disentangled_att_bias(query, key, distances, table, factor) for part in _term_copies(module)]


class DebertaV2(Deberta):
    """DebertaV2Model, versions 2 and 3 (He et al. 2021, 2023)."""

    title = "DeBERTa v2/v3"

    def refusal(self, config: Mapping[str, object]) -> str | None:
        """A convolution beside the first layer is refused."""
        kernel = config.get("conv_kernel_size")
        if isinstance(kernel, int) and kernel > 0:
            return (
                "a convolution over neighbouring tokens is added to its first layer (conv_kernel_size), whose "
                "activation has no rule here. Choose one without, such as version 3"
            )
        return super().refusal(config)

    def added(self, module: nn.Module, arguments: Mapping[str, object], query: Tensor, key: Tensor) -> Sequence[Tensor]:
        """c2p and p2c, by the module's own method, which wants the keys before they are divided."""
        assert isinstance(module, DisentangledAttentionV2)
        if not module.relative_attention:
            return ()
        factor = 1 + sum(kind in module.pos_att_type for kind in ("c2p", "p2c"))
        keys = key * torch.tensor(key.shape[-1] * factor, dtype=torch.float).sqrt().to(key.dtype)
        distances, table = _distances(arguments)
        biases = [
            part.disentangled_attention_bias(query.flatten(0, 1), keys.flatten(0, 1), distances, table, factor)
            for part in _term_copies(module)
        ]
        return [bias.view(*query.shape[:3], key.shape[2]) for bias in biases]


def _distances(arguments: Mapping[str, object]) -> tuple[Tensor, Tensor]:
    """From an attention module's arguments: the distances of query and key, and the table of distances."""
    distances, table = arguments["relative_pos"], arguments["rel_embeddings"]
    assert isinstance(distances, Tensor)
    assert isinstance(table, Tensor)
    return distances, table


def _term_copies(module: Attention) -> list[Attention]:
    """Copies of an attention module that share its weights; each adds a single term."""
    copies = []
    for kind in KINDS:
        if kind in module.pos_att_type:
            single = copy.copy(module)
            single.pos_att_type = [kind]
            copies.append(single)
    return copies


FAMILIES.add("deberta", Deberta())
FAMILIES.add("deberta-v2", DebertaV2())
