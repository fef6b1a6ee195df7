"""T5's encoder and its kin: a bias for the distance is added to unscaled scores, and shared by all layers."""

from transformers import PreTrainedConfig

from analysis.models.families import FAMILIES, Family


class T5(Family):
    """T5EncoderModel, also of checkpoints that have a decoder (Raffel et al. 2020; gated: Shazeer 2020)."""

    title = "T5 encoder"
    positions = "score_bias"
    loader = "T5EncoderModel"
    tables = (("word", "encoder.embed_tokens"),)
    layer_list = "encoder.block"
    attention = "layer.0.SelfAttention"

    def gated(self, config: PreTrainedConfig) -> bool:
        """Version 1.1 and after."""
        return bool(config.is_gated_act)


class MT5(T5):
    """MT5EncoderModel, over many languages (Xue et al. 2021)."""

    title = "mT5 encoder"
    loader = "MT5EncoderModel"


class UMT5(T5):
    """UMT5EncoderModel: every layer has a bias for the distance of its own (Chung et al. 2023)."""

    title = "UMT5 encoder"
    loader = "UMT5EncoderModel"


FAMILIES.add("t5", T5())
FAMILIES.add("mt5", MT5())
FAMILIES.add("umt5", UMT5())
