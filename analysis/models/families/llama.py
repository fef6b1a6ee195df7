"""Llama: rotated queries and keys, RMSNorm without a bias, a gated feed-forward, keys shared by groups of queries."""

from transformers import PreTrainedConfig

from analysis.models.families import FAMILIES, Family


class Llama(Family):
    """`transformers` LlamaModel and whatever wraps it (Touvron et al. 2023)."""

    title = "Llama"
    positions = "rotated"
    tables = (("word", "embed_tokens"),)
    """Positions turn queries and keys, and are no summand."""
    layer_list = "layers"
    attention = "self_attn"
    rotation = "rotary_emb"

    def gated(self, config: PreTrainedConfig) -> bool:
        """SwiGLU (Shazeer 2020)."""
        return True


FAMILIES.add("llama", Llama())
