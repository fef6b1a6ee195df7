"""Content-to-position and position-to-content scores of relative positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="deberta",
        title="DeBERTa",
        combines="disentangled",
        summary="Words are compared with words and with relative positions, and relative positions with words; "
        "scores are divided by the square root of 3d. No absolute positions.",
        key="he2021deberta",
        settings={"disentangled": 64, "scale_terms": 3},
        size="More parameters: two position projections in every layer.",
    )
)
