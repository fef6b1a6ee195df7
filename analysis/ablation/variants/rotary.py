"""Queries and keys turned by an angle that grows with the position."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="rotary",
        title="Rotary",
        combines="rotated",
        summary="Each pair of dimensions of a query and a key is rotated by its position's angle; nothing is added.",
        key="su2021roformer",
        settings={"rotary": True},
        size="Fewer parameters: rotary has none.",
    )
)
