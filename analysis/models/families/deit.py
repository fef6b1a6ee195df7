"""DeiT: a ViT with a second special token that learns from a teacher (Touvron et al. 2021)."""

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches


class DeiT(Patches):
    """`transformers` DeiTModel and whatever wraps it. Its class and distillation tokens are word."""

    title = "DeiT"
    specials = ("[CLS]", "[DIST]")
    contents = ("cls_token", "distillation_token", "mask_token")


FAMILIES.add("deit", DeiT())
