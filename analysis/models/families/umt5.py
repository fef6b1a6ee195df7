"""UMT5's encoder: mT5 whose every layer has a bias for the distance of its own."""

from analysis.models.families import FAMILIES
from analysis.models.families.t5 import T5


class UMT5(T5):
    """UMT5EncoderModel (Chung et al. 2023)."""

    title = "UMT5 encoder"
    loader = "UMT5EncoderModel"


FAMILIES.add("umt5", UMT5())
