"""Next-token prediction with queries and keys turned by their positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_rotary",
        title="Causal, rotary",
        combines="rotated",
        summary="Each token sees those before it and predicts the next; each pair of dimensions of queries and keys "
        "is rotated by its position's angle.",
        key="su2021roformer",
        settings={"causal": True, "rotary": True},
        size="Fewer parameters: rotary has none.",
    )
)
