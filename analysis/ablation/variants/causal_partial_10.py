"""Next-token prediction with a tenth of the dimensions of queries and keys turned."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_partial_10",
        title="Causal, a tenth rotated",
        combines="rotated",
        summary="As causal rotary, but only the first tenth of each head's dimensions is rotated (6 of 64); the "
        "others compare words alone.",
        key="barbero2025round",
        settings={"causal": True, "rotary": True, "rotary_share": 0.1},
        size="Fewer parameters: rotary has none.",
    )
)
