"""SigLIP's text encoder alone: as CLIP's, but every token attends to every other (Zhai et al. 2023)."""

from analysis.models.families import FAMILIES
from analysis.models.families.clip_text_model import ClipText


class SiglipText(ClipText):
    """SiglipTextModel, which AutoModel does not know."""

    title = "SigLIP (text)"
    loader = "SiglipTextModel"


FAMILIES.add("siglip_text_model", SiglipText())
