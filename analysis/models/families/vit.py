"""ViT: patches of an image as tokens, learned positions added (Dosovitskiy et al. 2021)."""

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches


class ViT(Patches):
    """`transformers` ViTModel and whatever wraps it. Its class token is word."""

    title = "ViT"


FAMILIES.add("vit", ViT())
