"""As tupe_a, and a relative bias on the scores."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="tupe_r",
        title="TUPE-R",
        combines="untied",
        summary="As TUPE-A, with a learned bias on the scores that depends on the distance between query and key.",
        key="ke2021tupe",
        settings={"untie_cls": True, "relative_buckets": 32, "untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
