"""As tupe_a, [CLS] treated as any other position."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="tupe_a_tie_cls",
        title="TUPE-A^tie-cls",
        combines="untied",
        summary="TUPE-A with [CLS] treated like any other position.",
        key="ke2021tupe",
        settings={"untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
