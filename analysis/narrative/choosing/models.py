"""Models that are widely used today, by their way of encoding positions, as read from the configs of transformers."""

from typing import NamedTuple


class Used(NamedTuple):
    """Models, and the default setting that shows their way of encoding positions.

    config: a class of transformers. says: an attribute of it, or a path of keys. value: the default found there.
    """

    models: str
    config: str
    says: str
    value: object


QUARTER, HALF = 0.25, 0.5
USED: dict[str, tuple[Used, ...]] = {
    "bert_a": (
        Used("BERT and encoders like it", "BertConfig", "max_position_embeddings", 512),
        Used("GPT-2", "GPT2Config", "n_positions", 1024),
    ),
    "relative_only": (Used("T5", "T5Config", "relative_attention_num_buckets", 32),),
    "alibi": (Used("MPT, a causal decoder", "MptConfig", "attn_config.alibi", True),),
    "rotary": (
        Used("Llama 3", "LlamaConfig", "rope_parameters.rope_type", "default"),
        Used("Qwen3", "Qwen3Config", "rope_parameters.rope_type", "default"),
        Used("ModernBERT", "ModernBertConfig", "rope_parameters.full_attention.rope_type", "default"),
    ),
    "causal_partial_25": (
        Used("Pythia and GPT-NeoX", "GPTNeoXConfig", "rope_parameters.partial_rotary_factor", QUARTER),
        Used("StableLM", "StableLmConfig", "rope_parameters.partial_rotary_factor", QUARTER),
        Used("Qwen3-Next", "Qwen3NextConfig", "rope_parameters.partial_rotary_factor", QUARTER),
        Used("Qwen3.5", "Qwen3_5TextConfig", "rope_parameters.partial_rotary_factor", QUARTER),
        Used(
            "Gemma 4, in layers without a window",
            "Gemma4TextConfig",
            "rope_parameters.full_attention.partial_rotary_factor",
            QUARTER,
        ),
        Used("GLM-4", "Glm4Config", "rope_parameters.partial_rotary_factor", HALF),
        Used("Phi-2", "PhiConfig", "rope_parameters.partial_rotary_factor", HALF),
    ),
    "hybrid": (
        Used("SmolLM3", "SmolLM3Config", "no_rope_layer_interval", 4),
        Used("Llama 4", "Llama4TextConfig", "no_rope_layers.3", 0),
        Used("Command R7B and other Cohere 2", "Cohere2Config", "layer_types.3", "full_attention"),
    ),
}
"""Way -> its users."""
