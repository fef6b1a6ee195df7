"""Words and positions side by side: 20 % of the width for positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="concat_20",
        title="Concatenated 80/20",
        combines="concatenated",
        summary="Words take 80 % of the width, learned positions 20 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.2,
        size="Fewer parameters: each table is as narrow as its part.",
    )
)
