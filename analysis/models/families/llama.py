"""Llama and its kin: rotated queries and keys, RMSNorm without a bias, gated feed-forward, keys shared by queries."""

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
FAMILIES.add("mistral", Llama("Mistral"))  # keys are seen through a sliding window (Jiang et al. 2023)
FAMILIES.add("qwen2", Llama("Qwen2"))  # biases on queries, keys and values (Yang et al. 2024)
FAMILIES.add("qwen3", Llama("Qwen3"))  # each head's query and key are normalised before they turn (Yang et al. 2025)
FAMILIES.add("smollm3", Llama("SmolLM3"))  # every fourth layer turns nothing: there only the causal mask tells order
