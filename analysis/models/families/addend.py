"""Our own encoder: every variant whose scores are a sum over sources, taken apart as its config says.

Positions that are added or concatenated enter as a source of the input. Position scores of their own
(TUPE) are no product of hidden states: they become a source's queries and keys in dimensions that no
other source uses, so that position_to_position holds them and both cross terms are exactly zero.
"""

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

import analysis.ablation.encoder  # noqa: F401  registers the architecture with transformers
from analysis.models.expand import Factors, project, through_layer_norm
from analysis.models.families import FAMILIES

WORD, POSITION, SEGMENT = range(3)
REFUSED = {
    "rotary": "turns queries and keys by position, so position is no source that is added",
    "disentangled": "compares words with relative positions, which are no source of the input",
    "recurrent": "passes the words through a GRU before the first layer, which is not linear",
    "relative_buckets": "adds a bias for the distance to the scores, which is no source of the input",
    "alibi": "adds a bias for the distance to the scores, which is no source of the input",
}


class Addend:
    """Models trained by `python -m analysis ablate`."""

    title = "Addend's encoder"

    def refusal(self, config: Mapping[str, Any]) -> str | None:
        """Variants whose scores are no sum over word, position, segment and bias."""
        for field, why in REFUSED.items():
            if config.get(field):
                return f"the variant {config.get('variant')!r} {why}. Choose another variant"
        if config.get("combine") == "multiply":
            return "it multiplies words by positions, so the two are no summands. Choose another variant"
        return None

    def attention(self, model: Any, layer: int) -> nn.Module:
        """The self-attention of a layer."""
        return model.base_model.encoder.layer[layer].attention.self

    def attends(self, config: Any) -> str:
        """As the variant's mask has it."""
        if config.causal:
            return "causal"
        return f"window {config.window}" if config.window else "all"

    def expand(self, model: Any, inputs: Mapping[str, Tensor]) -> Factors:
        """Word, position, segment and bias through the embedding norm (or norms) and W_Q, W_K of layer 0."""
        config = model.config
        attention: Any = self.attention(model, 0)
        sources = self._input(model, inputs)
        if config.norm == "pre":
            sources = _normed(sources, model.base_model.encoder.layer[0].attention.output.LayerNorm, config)
        heads = config.num_attention_heads
        query, key = (_projected(sources, linear, heads, config) for linear in (attention.query, attention.key))
        scores = model.base_model.encoder.position_scores
        length = sources.shape[1]
        if config.untied == "added":
            # The projections' own biases are as constant as any: they go to the bias.
            rows = scores.normed(length)
            for found, linear in ((query, scores.query), (key, scores.key)):
                found[POSITION] += scores.heads(rows @ linear.weight.T)
                found[-1] += scores.heads(linear.bias.expand(length, -1))
        if config.untied in ("own", "word"):
            rows = scores.normed(length)
            maps = (scores.query, scores.key) if config.untied == "own" else (attention.query, attention.key)
            position = scores.untied(*(scores.heads(linear(rows)) for linear in maps))[0] / attention.scaling
            query = torch.cat([query, torch.zeros_like(position).expand(len(query), -1, -1, -1)], -1)
            key = torch.cat([key, torch.zeros_like(position).expand(len(key), -1, -1, -1)], -1)
            query[POSITION, :, :, -length:] = position
            key[POSITION, :, :, -length:] = torch.eye(length, dtype=key.dtype, device=key.device)
        return Factors(query, key, attention.scaling)

    def _input(self, model: Any, inputs: Mapping[str, Tensor]) -> Float[Tensor, "S T E"]:
        """What each source contributes to the hidden states that enter layer 0."""
        config, embeddings = model.config, model.base_model.embeddings
        ids = inputs["input_ids"]
        words = embeddings.words(ids)[0]
        parts = words.new_zeros(3, len(words), config.hidden_size)
        width = config.word_dim
        parts[WORD, :, :width] = words
        if config.segments:
            segments = inputs.get("token_type_ids", torch.zeros_like(ids))
            parts[SEGMENT, :, :width] = embeddings.token_type_embeddings(segments)[0]
        if config.combine == "none":
            return through_layer_norm(parts, embeddings.LayerNorm)
        positions = embeddings.position_embeddings(len(words))
        parts[POSITION, :, -positions.shape[1] :] = positions
        if config.blocked:
            return _by_part(parts, embeddings.LayerNorm, embeddings.position_LayerNorm, width)
        if config.position_norm:
            alone = parts.clone()
            alone[POSITION] = 0
            apart = through_layer_norm(alone, embeddings.LayerNorm)
            own = through_layer_norm(parts[POSITION][None], embeddings.position_LayerNorm)
            apart[POSITION] = own[0]
            apart[-1] += own[1]
            return apart
        return through_layer_norm(parts, embeddings.LayerNorm)


def _by_part(parts: Tensor, word: nn.LayerNorm, position: nn.LayerNorm, width: int) -> Tensor:
    """Each part of the width through a norm of its own."""
    return torch.cat(
        [through_layer_norm(parts[..., :width], word), through_layer_norm(parts[..., width:], position)], -1
    )


def _normed(sources: Float[Tensor, "S T E"], norm: Any, config: Any) -> Float[Tensor, "S T E"]:
    """Sources through a further norm; its beta joins the bias."""
    done = (
        _by_part(sources, norm.word, norm.position, config.word_dim)
        if config.blocked
        else through_layer_norm(sources, norm)
    )
    return torch.cat([done[:-2], (done[-2] + done[-1])[None]])


def _projected(sources: Tensor, linear: Any, heads: int, config: Any) -> Float[Tensor, "S H T D"]:
    """Sources through W_Q or W_K, head by head; a blocked one reads each part of the width by itself."""
    once = config.norm == "post"  # a second norm makes the first one's beta vary along tokens
    if not config.blocked:
        return project(sources, linear, heads, constant=once)
    parts = (sources[..., : config.word_dim], linear.word), (sources[..., config.word_dim :], linear.position)
    return torch.cat([project(part, own, heads, constant=once) for part, own in parts], -1)


FAMILIES.add("addend", Addend())
