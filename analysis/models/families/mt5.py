"""mT5's encoder: T5 1.1 over many languages, also of checkpoints that have a decoder."""

from analysis.models.families import FAMILIES
from analysis.models.families.t5 import T5


class MT5(T5):
    """MT5EncoderModel (Xue et al. 2021)."""

    title = "mT5 encoder"
    loader = "MT5EncoderModel"


FAMILIES.add("mt5", MT5())
