"""The ten ways to tell a position that models use, with their short names and the configuration that chooses each."""

from typing import NamedTuple


class InUse(NamedTuple):
    """A way that is in use. name: its short name. config: the call in transformers that chooses it; empty if none does.

    note: what its pictures leave out, in a sentence.
    """

    name: str
    config: str
    note: str = ""


IN_USE: dict[str, InUse] = {
    "rotary": InUse("Rotary", 'LlamaConfig(rope_parameters={"rope_type": "default", "rope_theta": 10_000})'),
    "causal_partial_25": InUse(
        "Rotary, some dimensions",
        'GPTNeoXConfig(rope_parameters={"rope_type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.25})',
        "The pictures are of the part that is rotated; the other dimensions hold no position.",
    ),
    "hybrid": InUse(
        "Rotary, some layers",
        "SmolLM3Config(no_rope_layer_interval=4)",
        "The pictures are of the layers that rotate; in the others there is no position.",
    ),
    "bert_a": InUse("Learned, added", "BertConfig(max_position_embeddings=512)"),
    "relative_only": InUse(
        "Bias by distance, learned",
        "T5Config(relative_attention_num_buckets=32, relative_attention_max_distance=128)",
        "The numbers are learned with a model; here they are random, so that only the buckets count.",
    ),
    "alibi": InUse("Bias by distance, fixed", 'MptConfig(attn_config={"alibi": True})'),
    "sinusoidal": InUse("Fixed sinusoids, added", "DistilBertConfig(sinusoidal_pos_embds=True)"),
    "deberta": InUse(
        "Words × distances",
        'DebertaV2Config(relative_attention=True, pos_att_type="c2p|p2c")',
        "The pictures are of relative vectors as drawn at random before training, of Shaw's kind.",
    ),
    "no_position": InUse("No positions at all", "SmolLM3Config(no_rope_layers=[0] * 36)"),
    "tupe_a": InUse(
        "Matrices of their own",
        "",
        "The vectors are learned with a model; here they are random, so that only the structure counts.",
    ),
}
"""The ways in the order of the page, by variant."""


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
"""Way -> its users, where `models.USED` has none."""
