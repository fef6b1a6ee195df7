"""Projections of their own for positions, all four terms kept."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_a_d",
        title="BERT-A^d",
        combines="added",
        summary="Positions have separate projections, which are added to queries and keys, so that all four terms "
        "are kept; scores are divided by the square root of 4d.",
        key="ke2021tupe",
        settings={"untied": "added", "scale_terms": 4},
        size="More parameters: two position projections and their norm, once for all layers.",
    )
)
