"""ModernBERT: queries and keys are rotated, attention is local in most layers, the feed-forward is gated."""

from transformers import PreTrainedConfig

from analysis.models.families import FAMILIES, Family


class ModernBert(Family):
    """ModernBertModel (Warner et al. 2024). Position multiplies, so no source of the input is position."""

    title = "ModernBERT"
    positions = "rotated"
    tables = (("word", "embeddings.tok_embeddings"),)
    layer_list = "layers"
    attention = "attn"
    rotation = "rotary_emb"
    """Called once for local and once for global layers."""

    def gated(self, config: PreTrainedConfig) -> bool:
        """GeGLU."""
        return True


FAMILIES.add("modernbert", ModernBert())
