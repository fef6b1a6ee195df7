"""Words multiplied by positions, dimension by dimension."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="multiply",
        title="Multiplied",
        combines="multiplied",
        summary="Each position scales every dimension of the word by a learned factor (a diagonal matrix per "
        "position), drawn at first from 1 plus a standard normal.",
        settings={"position": "learned", "combine": "multiply"},
    )
)
