"""A fixed, random table, added to the words."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="random_fixed",
        title="Random, fixed",
        combines="added",
        summary="Each position adds a random vector that is never trained, as long as the sinusoids' and with words "
        "scaled alike.",
        settings={"position": "random_fixed", "combine": "add", "scale_words": True},
        size="Fewer parameters: the table of positions is not trained.",
    )
)
