"""No positions; each token sees eight neighbours on each side."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="window",
        title="Window",
        combines="absent",
        summary="No positions, but a token attends to eight neighbours on each side and to [CLS], which attends to "
        "all.",
        settings={"window": 8},
        size="Fewer parameters: there is no table of positions.",
    )
)
