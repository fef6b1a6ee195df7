"""Positions compared with positions by projections of their own; [CLS] set apart."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="tupe_a",
        title="TUPE-A",
        combines="untied",
        summary="Words alone at the input; positions have projections of their own and add a position-to-position "
        "score. No cross terms. [CLS] has scores of its own.",
        key="ke2021tupe",
        settings={"untie_cls": True, "untied": "own", "scale_terms": 2},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
