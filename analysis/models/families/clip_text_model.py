"""CLIP's text encoder: learned positions added, a causal mask, no norm at the input (Radford et al. 2021)."""

from analysis.models.families import FAMILIES, Family


class ClipText(Family):
    """`transformers` CLIPTextModel, as checkpoints of a text encoder alone hold it."""

    title = "CLIP (text)"
    tables = (("word", "embeddings.token_embedding"), ("position", "embeddings.position_embedding"))
    layer_list = "encoder.layers"
    attention = "self_attn"


FAMILIES.add("clip_text_model", ClipText())
