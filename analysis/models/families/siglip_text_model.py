"""SigLIP's text encoder: as CLIP's, but every token attends to every other (Zhai et al. 2023)."""

from analysis.models.families import FAMILIES
from analysis.models.families.clip_text_model import ClipText


class SiglipText(ClipText):
    """`transformers` SiglipTextModel, as checkpoints of a text encoder alone hold it."""

    title = "SigLIP (text)"


FAMILIES.add("siglip_text_model", SiglipText())
