"""Words and positions side by side: 5 % of the width for positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="concat_05",
        title="Concatenated 95/5",
        combines="concatenated",
        summary="Words take 95 % of the width, learned positions 5 %; the width stays, and one normalisation spans "
        "both.",
        settings={"position": "learned", "combine": "concat"},
        position_share=0.05,
        size="Fewer parameters: each table is as narrow as its part.",
    )
)
