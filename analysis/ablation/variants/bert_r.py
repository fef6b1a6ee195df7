"""As bert_a, and a relative bias on the scores."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_r",
        title="BERT-R",
        combines="added",
        summary="As BERT-A, with a learned bias on the scores that depends on the distance between query and key.",
        key="ke2021tupe",
        settings={"relative_buckets": 32, "position": "learned", "combine": "add"},
        size="128 more parameters with 4 heads: one per bucket and head.",
    )
)
