"""T5's relative bias and nothing else."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="relative_only",
        title="Relative only",
        combines="biased",
        summary="No positions at the input; a learned bias on the scores depends on the distance between query and "
        "key.",
        key="raffel2020t5",
        settings={"relative_buckets": 32},
        size="Fewer parameters: 32 numbers per head instead of a table.",
    )
)
