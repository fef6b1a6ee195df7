"""Words keep their width and positions come on top: a quarter more."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="concat_wide",
        title="Concatenated, wider",
        combines="concatenated",
        summary="Words keep their width and learned positions add a quarter to it, so that the whole model is wider.",
        settings={"position": "learned", "combine": "concat"},
        wider=0.25,
        size="More parameters: every layer is a quarter wider.",
    )
)
