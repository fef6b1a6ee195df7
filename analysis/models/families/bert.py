"""BERT: learned absolute positions and segments, added to the word and normalised together."""

import copy
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from analysis.models.expand import Factors, project, through_layer_norm
from analysis.models.families import FAMILIES


class Bert:
    """`transformers` BertModel and whatever wraps it (Devlin et al. 2019)."""

    title = "BERT"

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Relative positions are refused: transformers 5 would drop them without a word."""
        kind = config.get("position_embedding_type") or "absolute"
        if kind != "absolute":
            return (
                f"its positions are {kind!r}, which transformers 5 no longer implements for BERT: it would load the "
                "checkpoint without them and compute something else. Choose one with absolute positions"
            )
        if config.get("is_decoder"):
            return "it is set up as a decoder (is_decoder); the terms here are of the bidirectional encoder"
        return None

    def attention(self, model: Any, layer: int) -> nn.Module:
        """The self-attention of a layer."""
        return model.base_model.encoder.layer[layer].attention.self

    def attends(self, config: Any) -> str:
        """Every query attends to every key."""
        return "all"

    def expand(self, model: Any, inputs: Mapping[str, Tensor]) -> Factors:
        """Word, position, segment and bias through the embedding LayerNorm and W_Q, W_K of layer 0."""
        embeddings = model.base_model.embeddings
        ids = inputs["input_ids"]
        segments = inputs.get("token_type_ids")
        positions = torch.arange(ids.shape[1], device=ids.device)
        parts = torch.stack(
            [
                embeddings.word_embeddings(ids)[0],
                embeddings.position_embeddings(positions),
                embeddings.token_type_embeddings(torch.zeros_like(ids) if segments is None else segments)[0],
            ]
        )
        compute = torch.float64 if parts.dtype == torch.float64 else torch.float32
        attention: Any = self.attention(model, 0)
        norm, query, key = (_in_dtype(m, compute) for m in (embeddings.LayerNorm, attention.query, attention.key))
        sources = through_layer_norm(parts.to(compute), norm)
        heads = attention.num_attention_heads
        return Factors(project(sources, query, heads), project(sources, key, heads), attention.scaling)


def _in_dtype(module: nn.Module, dtype: torch.dtype) -> Any:
    """The module itself, or a copy of it in the dtype that terms are computed in."""
    if next(module.parameters()).dtype == dtype:
        return module
    return copy.deepcopy(module).to(dtype)


FAMILIES.add("bert", Bert())
