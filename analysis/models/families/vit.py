"""ViT: patches of an image as tokens, learned positions added; the class token is word (Dosovitskiy et al. 2021)."""

from analysis.models.families import FAMILIES
from analysis.models.families.patches import Patches

FAMILIES.add("vit", Patches("ViT"))
