"""The ways to tell a position on the board: their short names, the configuration that chooses each, their users.

Nine are those that models use; two were only studied, and stand beside them to compare.

Users are read from the configs of transformers, or from its code.
"""

from string import Template
from typing import NamedTuple

from analysis.ablation.variants import full_title


class InUse(NamedTuple):
    """A way that is in use. name: its short name. config: the call in transformers that chooses it; empty if none does.

    note: what its pictures leave out, in a sentence. decoder: the call that chooses it in a decoder, where that is
    another one; `NO_DECODER` where transformers has none. $length in a call: the tokens of the reader's texts.
    """

    name: str
    config: str
    note: str = ""
    decoder: str = ""

    def call(self, length: int, *, decoder: bool) -> str:
        """The call that chooses it for texts of `length` tokens; empty or `NO_DECODER` where there is none."""
        return Template((decoder and self.decoder) or self.config).substitute(length=length)


NO_DECODER = "none"

IN_USE: dict[str, InUse] = {
    "rotary": InUse("Rotary", 'LlamaConfig(rope_parameters={"rope_type": "default", "rope_theta": 10_000})'),
    "causal_partial_25": InUse(
        "Rotary, some dimensions",
        'GPTNeoXConfig(rope_parameters={"rope_type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.25})',
        "Models turn a quarter or a half, with waves of their own for that part; no picture of it is drawn.",
    ),
    "hybrid": InUse(
        "Rotary, some layers",
        "SmolLM3Config(no_rope_layer_interval=4)",
        "The pictures are of the layers that rotate; in the others there is no position.",
    ),
    "bert_a": InUse(
        "Learned, added",
        "BertConfig(max_position_embeddings=$length)",
        decoder="GPT2Config(n_positions=$length)",
    ),
    "relative_only": InUse(
        "Bias by distance, learned",
        "T5Config(relative_attention_num_buckets=32, relative_attention_max_distance=128)",
        "Its numbers are learned with a model, and no picture of random ones is drawn.",
    ),
    "alibi": InUse(
        "Bias by distance, fixed",
        'MptConfig(attn_config={"alibi": True})',
        "In an encoder, which sees both sides, it tells how far apart two words stand and so most orders from each "
        "other, but not a text from its reverse.",
    ),
    "sinusoidal": InUse("Fixed sinusoids", "MarianConfig(scale_embedding=True)"),
    "deberta": InUse(
        "Words × distances",
        'DebertaV2Config(relative_attention=True, pos_att_type="c2p|p2c", position_biased_input=False)',
        "Its vectors are learned with a model, and no picture of random ones is drawn.",
        NO_DECODER,
    ),
    "no_position": InUse(
        "No positions at all",
        "SmolLM3Config(no_rope_layers=[0] * 36)",
        "A causal decoder can: each token sees how many stand before it.",
    ),
    "causal_polar": InUse(
        "Polar",
        "",
        "(Gopalakrishnan et al., 2025.) No model named here uses it: it stands here to compare, since it keeps what "
        "and where apart. No picture of it is drawn.",
    ),
    "tupe_a": InUse(
        full_title("tupe_a"),
        "",
        "No model named here uses it: it stands here to compare, since it keeps words and positions apart. Its vectors "
        "are learned with a model, and no picture of random ones is drawn. A causal decoder has no [CLS], which has "
        "scores of its own here; without these, the method would work in one.",
    ),
}
"""The ways in the order of the page, by variant."""


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
        Used("Phi-1", "PhiConfig", "rope_parameters.partial_rotary_factor", HALF),
    ),
    "hybrid": (
        Used("SmolLM3", "SmolLM3Config", "no_rope_layer_interval", 4),
        Used("Llama 4", "Llama4TextConfig", "no_rope_layers.3", 0),
        Used("Command R7B and other Cohere 2", "Cohere2Config", "layer_types.3", "full_attention"),
    ),
}
"""Way -> its users."""


class InCode(NamedTuple):
    """Models whose way no default of a config shows. defined: the part of transformers that does it."""

    models: str
    defined: str


IN_CODE: dict[str, InCode] = {
    "sinusoidal": InCode("Whisper's encoder, Marian", "transformers.models.whisper.modeling_whisper.sinusoids"),
    "deberta": InCode(
        "DeBERTa, DeBERTa-v3", "transformers.models.deberta_v2.modeling_deberta_v2.DisentangledSelfAttention"
    ),
    "no_position": InCode(
        "some layers of SmolLM3, Llama 4", "transformers.models.smollm3.modeling_smollm3.SmolLM3Attention"
    ),
}
"""Way -> its users, where `USED` has none."""
