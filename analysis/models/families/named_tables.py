"""Architectures that the names of their tables and modules describe: one entry each, without code.

Positions that turn queries and keys are no summand, so that a rotated family has no table of them.
"""

from analysis.models.families import FAMILIES, Family

_CLIP_TEXT = {
    "tables": (("word", "embeddings.token_embedding"), ("position", "embeddings.position_embedding")),
    "layer_list": "encoder.layers",
    "attention": "self_attn",
}
_LLAMA = {
    "positions": "rotated",
    "tables": (("word", "embed_tokens"),),
    "layer_list": "layers",
    "attention": "self_attn",
    "rotation": "rotary_emb",
    "always_gated": True,  # SwiGLU (Shazeer 2020)
}
"""Rotated queries and keys, RMSNorm without a bias, gated feed-forward, keys shared by queries."""

# Half of BERT's layers, and no segments (Sanh et al. 2019).
FAMILIES.add(
    "distilbert",
    Family(
        title="DistilBERT",
        tables=(("word", "embeddings.word_embeddings"), ("position", "embeddings.position_embeddings")),
        layer_list="transformer.layer",
        attention="attention",
    ),
)
# Learned absolute positions added to the word, and every norm before what it serves (Radford et al. 2019).
FAMILIES.add(
    "gpt2", Family(title="GPT-2", tables=(("word", "wte"), ("position", "wpe")), layer_list="h", attention="attn")
)
# GPT-NeoX and Pythia: a part of each query and key is rotated; attention and feed-forward read the same state (Black et
# al. 2022; Biderman et al. 2023).
FAMILIES.add(
    "gpt_neox",
    Family(
        title="GPT-NeoX",
        positions="rotated",
        tables=(("word", "embed_in"),),
        layer_list="layers",
        attention="attention",
        rotation="rotary_emb",
    ),
)
# Learned absolute positions, of which the first two rows are spare. A table of words narrower than the model is
# projected by a linear map (Zhang et al. 2022).
FAMILIES.add(
    "opt",
    Family(
        title="OPT",
        tables=(("word", "decoder.embed_tokens"), ("position", "decoder.embed_positions")),
        layer_list="decoder.layers",
        attention="self_attn",
    ),
)
# Queries and keys are rotated, attention is local in most layers, the feed-forward is gated (GeGLU; Warner et al.
# 2024). The module that turns is called once for local and once for global layers.
FAMILIES.add(
    "modernbert",
    Family(
        title="ModernBERT",
        positions="rotated",
        tables=(("word", "embeddings.tok_embeddings"),),
        layer_list="layers",
        attention="attn",
        rotation="rotary_emb",
        always_gated=True,
    ),
)

# As checkpoints of a text encoder alone hold it: learned positions added, no norm at the input (Radford et al. 2021).
FAMILIES.add("clip_text_model", Family(title="CLIP (text)", **_CLIP_TEXT))
# AutoModel does not know it; every token attends to every other (Zhai et al. 2023).
FAMILIES.add("siglip_text_model", Family(title="SigLIP (text)", loader="SiglipTextModel", **_CLIP_TEXT))

FAMILIES.add("llama", Family(title="Llama", **_LLAMA))  # Touvron et al. 2023
for architecture, title in (
    ("mistral", "Mistral"),  # keys are seen through a sliding window (Jiang et al. 2023)
    ("qwen2", "Qwen2"),  # biases on queries, keys and values (Yang et al. 2024)
    ("qwen3", "Qwen3"),  # each head's query and key are normalised before they turn (Yang et al. 2025)
    ("smollm3", "SmolLM3"),  # every fourth layer turns nothing: there only the causal mask tells order
):
    FAMILIES.add(architecture, Family(title, kin=True, **_LLAMA))

# DeepSeek V2, V3 and kin: multi-head latent attention (MLA; DeepSeek-AI 2024b), whose heads lie side by side in two
# parts. A head's query and key are [content; turned]: the content part comes out of a narrow latent that all heads
# share and is never turned, the other part is turned, and its key is one for all heads. A score is the sum of both
# parts' products, so that the position map has the content part as `not turned`; terms are those of the two parts
# together. Experts are chosen by the whole hidden state: the choice and its weights are held, as attention patterns
# are.
FAMILIES.add("deepseek_v3", Family(title="DeepSeek-V3", **_LLAMA))
for architecture, title in (
    ("deepseek_v2", "DeepSeek-V2"),
    ("youtu", "Youtu"),
    ("glm4_moe_lite", "GLM-4 MoE lite"),
    ("minicpm3", "MiniCPM3"),
    ("mistral4", "Mistral 4"),
    ("axk1", "A.X-K1"),
):
    FAMILIES.add(architecture, Family(title, kin=True, **_LLAMA))
