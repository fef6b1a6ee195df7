"""The text encoders of CLIP and SigLIP: learned positions added, no norm at the input (Radford et al. 2021)."""

from analysis.models.families import FAMILIES, Family


class ClipText(Family):
    """`transformers` CLIPTextModel, as checkpoints of a text encoder alone hold it."""

    title = "CLIP (text)"
    tables = (("word", "embeddings.token_embedding"), ("position", "embeddings.position_embedding"))
    layer_list = "encoder.layers"
    attention = "self_attn"


class SiglipText(ClipText):
    """SiglipTextModel, which AutoModel does not know: every token attends to every other (Zhai et al. 2023)."""

    title = "SigLIP (text)"
    loader = "SiglipTextModel"


FAMILIES.add("clip_text_model", ClipText())
FAMILIES.add("siglip_text_model", SiglipText())
