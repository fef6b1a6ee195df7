"""Next-token prediction with a quarter of the dimensions of queries and keys turned."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_partial_25",
        title="Causal, a quarter rotated",
        combines="rotated",
        summary="As causal rotary, but only the first quarter of each head's dimensions is rotated; the others "
        "compare words alone.",
        key="barbero2025round",
        settings={"causal": True, "rotary": True, "rotary_share": 0.25},
        size="Fewer parameters: rotary has none.",
    )
)
