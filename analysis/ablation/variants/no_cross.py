"""The words' own projections reused for positions, without the cross terms."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="no_cross",
        title="No cross terms",
        combines="untied",
        summary="Every layer projects positions as it projects words and adds the position-to-position score alone: "
        "against BERT-A^norm, the cross terms are gone and positions are not in the values. [CLS] is not set apart.",
        settings={"untied": "word", "scale_terms": 2},
        size="One normalisation and one row of positions more.",
    )
)
