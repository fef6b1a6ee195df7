"""The words' own projections reused for positions, without the cross terms."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="no_cross",
        title="No cross terms",
        combines="untied",
        summary="Every layer projects positions as it projects words and adds only the position-to-position score: "
        "compared with BERT-A, normalised, the cross terms are gone and positions are not in the values. [CLS] "
        "is treated like any other token.",
        settings={"untied": "word", "scale_terms": 2},
        size="One more normalisation and one more row of positions.",
    )
)
