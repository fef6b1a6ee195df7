"""T5's encoder: a bias for the distance is added to unscaled scores, and shared by all layers."""

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


FAMILIES.add("t5", T5())
