"""No positions at all: the encoder sees a bag of words."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="no_position",
        title="No position",
        combines="absent",
        summary="Word and segment embeddings alone; the encoder cannot tell one order from another.",
        size="Fewer parameters: there is no table of positions.",
    )
)
