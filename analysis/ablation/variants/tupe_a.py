"""Positions compared with positions by projections of their own; [CLS] set apart."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="tupe_a",
        title="TUPE-A",
        combines="untied",
        summary="Only words enter at the input; positions have separate projections and add a position-to-position "
        "score. No cross terms. [CLS] has separate scores.",
        key="ke2021tupe",
        settings={"untie_cls": True, "untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
