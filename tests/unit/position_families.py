"""Architectures that people ask for, tiny, at random and with awkward settings: mapped, or refused in a sentence."""

from collections.abc import Callable
from typing import Any

import transformers
from family_specimens import GROUPED, SPECIMENS, YARN, _tiny as tiny, _vision, randomised
from transformers.models.whisper.modeling_whisper import WhisperEncoder

HEADS = {"head_dim": 8, **GROUPED}
LOCAL = {"sliding_window": 4, "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 8}
LINEAR = {
    "layer_types": ["linear_attention", "full_attention", "linear_attention"],
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 8,
    "linear_value_head_dim": 8,
}
PER_LAYER_4 = {"hidden_size_per_layer_input": 8, "vocab_size_per_layer_input": 25}
"""Else a table of 262,144 rows."""
PER_LAYER = {**PER_LAYER_4, "laurel_rank": 4}
SHARED = {
    "num_hidden_layers": 5,
    "num_kv_shared_layers": 2,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"],
}
LINEARLY = {"rope_type": "linear", "rope_theta": 1e4, "factor": 4.0}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 4.0}
LLAMA_3 = {
    "rope_type": "llama3", "rope_theta": 1e4, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 40,
}  # fmt: skip
LONG = {
    "rope_type": "longrope", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 10,
    "short_factor": [1.0, 1.0, 1.0, 1.0], "long_factor": [1.0, 2.0, 4.0, 8.0],
}  # fmt: skip

TURNING: dict[str, Callable[[], Any]] = {
    **{
        name: SPECIMENS[name].build
        for name in ("llama", "mistral", "qwen2", "qwen3", "gpt_neox", "modernbert", "addend rotary")
    },
    "gemma": tiny("Gemma", **HEADS),
    "gemma 2, scores capped": tiny("Gemma2", **HEADS, attn_logit_softcapping=1.0),
    "gemma 3": tiny("Gemma3Text", **HEADS, **LOCAL),
    "gemma 3n": tiny("Gemma3nText", **HEADS, **PER_LAYER, num_kv_shared_layers=0),
    "gemma 3n, keys shared": tiny(
        "Gemma3nText", **HEADS, **PER_LAYER, **SHARED, activation_sparsity_pattern=[0.0] * SHARED["num_hidden_layers"]
    ),
    "gemma 4": tiny("Gemma4Text", **HEADS, **PER_LAYER_4),
    "gemma 4, keys shared": tiny("Gemma4Text", **HEADS, **PER_LAYER_4, **SHARED),
    "phi": tiny("Phi", partial_rotary_factor=0.5),
    "phi 3, half of it turned": tiny("Phi3", num_key_value_heads=2, partial_rotary_factor=0.5),
    "phi 3, longrope": tiny("Phi3", rope_parameters=LONG, original_max_position_embeddings=10, **GROUPED),
    "olmo 2": tiny("Olmo2", **HEADS),
    "olmo 3": tiny("Olmo3", **HEADS, **LOCAL),
    "smollm 3, a layer without": tiny("SmolLM3", **HEADS, no_rope_layers=[1, 0, 1]),
    "cohere": tiny("Cohere", **HEADS),
    "cohere 2": tiny("Cohere2", **HEADS, **LOCAL),
    "glm 4": tiny("Glm4", **HEADS),
    "stablelm": tiny("StableLm", **HEADS),
    "mixtral": tiny("Mixtral", **HEADS),
    "qwen 3 with experts": tiny("Qwen3Moe", **HEADS, **EXPERTS),
    "qwen 3 next": tiny("Qwen3Next", **HEADS, **EXPERTS, **LINEAR, shared_expert_intermediate_size=8),
    "qwen 3.5": tiny("Qwen3_5Text", **HEADS, **LINEAR),
    "granite": tiny("Granite", **HEADS),
    "starcoder 2": tiny("Starcoder2", **HEADS, sliding_window=4),
    "nomic-bert": tiny("NomicBert"),
    "eurobert": tiny("EuroBert", **HEADS),
    "esm 2": tiny("Esm", position_embedding_type="rotary"),
    "llama 4, a layer without": tiny("Llama4Text", **HEADS, no_rope_layers=[1, 0, 1]),
    "gpt-oss, with sinks": tiny("GptOss", **HEADS, **LOCAL, num_local_experts=4, num_experts_per_tok=2),
    "llama, linear": tiny("Llama", rope_parameters=LINEARLY, **HEADS),
    "llama, dynamic": tiny("Llama", rope_parameters=DYNAMIC, **HEADS, max_position_embeddings=10),
    "llama, yarn": tiny("Llama", rope_parameters=YARN, **HEADS),
    "llama, as llama 3": tiny("Llama", rope_parameters=LLAMA_3, **HEADS),
    "llama, five heads of six": tiny("Llama", hidden_size=30, num_attention_heads=5, num_key_value_heads=1, head_dim=6),
}
"""Models whose bands add up to their own scores, at every layer."""

ADDING: dict[str, Callable[[], Any]] = {
    **{
        name: SPECIMENS[name].build
        for name in ("bert", "gpt2", "opt", "bloom", "t5", "deberta-v2", "mpnet", "big_bird", "siglip_text_model")
    },
    "big bird, sparse on longer texts": tiny("BigBird", block_size=4),
}
"""Models whose positions are added to words or scores, and told by terms."""


def other(name: str, **fields: Any) -> Callable[[], Any]:
    """A tiny model of transformers' own, for architectures that name their shape otherwise."""

    def build() -> Any:
        part = getattr(transformers, f"{name}Config")(**fields)
        return getattr(transformers, f"{name}Model")(part).eval()

    return build


GPT = {"vocab_size": 25, "n_embd": 32, "n_head": 4, "n_layer": 2, "rotary_dim": 4, "n_positions": 40}
WHISPER = {"vocab_size": 25, "d_model": 48, "pad_token_id": 0, "decoder_start_token_id": 1, "eos_token_id": 2}
SIGLIP = transformers.SiglipVisionModel, transformers.SiglipVisionConfig
REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "roformer, a random table": (SPECIMENS["roformer"].build, "angles that it is given do not grow evenly"),
    "falcon": (tiny("Falcon"), "cannot be read"),
    "gpt-j": (other("GPTJ", **GPT), "cannot be read"),
    "codegen": (other("CodeGen", **GPT), "cannot be read"),
    "longformer": (tiny("Longformer", attention_window=4), "cannot be read"),
    "xlnet": (other("XLNet", vocab_size=25, d_model=32, n_layer=2, n_head=4, d_inner=16), "cannot be read"),
    "whisper": (other("Whisper", **WHISPER), "an encoder and a decoder"),
    "whisper's encoder": (
        lambda: randomised(WhisperEncoder(transformers.WhisperConfig(**WHISPER, num_mel_bins=8))),
        "has no table of words",
    ),
    "siglip, images": (_vision(*SIGLIP), "reads images, not text"),
    "linear attention alone": (tiny("Qwen3Next", **HEADS), "no cosine and sine that can be seen"),
}
"""Models whose positions cannot be told apart here, with what a reader is told."""
