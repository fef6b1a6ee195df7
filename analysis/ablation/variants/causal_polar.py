"""Next-token prediction with PoPE: words give lengths, positions give angles."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_polar",
        title="Causal, polar positions",
        combines="rotated",
        summary="PoPE: words set the length of each dimension of queries and keys, never below 0, and position alone "
        "sets the angle; in rotary models words change the angle too.",
        key="gopalakrishnan2025pope",
        settings={"causal": True, "polar": True},
        size="Fewer parameters: polar positions have a phase for each dimension of the keys, and no table.",
    )
)
