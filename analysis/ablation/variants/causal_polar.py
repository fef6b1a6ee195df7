"""Next-token prediction with PoPE: words give lengths, positions give angles."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_polar",
        title="Causal, polar positions",
        combines="rotated",
        summary="PoPE: what queries and keys say of words is a length in each dimension, never below 0, and position "
        "alone is the angle; rotary lets words turn the angle too.",
        key="gopalakrishnan2025pope",
        settings={"causal": True, "polar": True},
        size="Fewer parameters: polar positions have a phase for each dimension of the keys, and no table.",
    )
)
