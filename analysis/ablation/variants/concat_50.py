"""Words and positions side by side: 50 % of the width for positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="concat_50",
        title="Concatenated 50/50",
        combines="concatenated",
        summary="Words take 50 % of the width, learned positions 50 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.5,
        size="Fewer parameters: each table is as narrow as its part.",
    )
)
