"""As tupe_a, scores divided by sqrt(d) instead of sqrt(2d)."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="tupe_a_unscaled",
        title="TUPE-A, unscaled",
        combines="untied",
        summary="TUPE-A whose two terms are each divided by the square root of d, not of 2d.",
        key="ke2021tupe",
        settings={"untie_cls": True, "untied": "own"},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
