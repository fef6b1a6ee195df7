"""Fixed sines and cosines, added to the words."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="sinusoidal",
        title="Sinusoidal",
        combines="added",
        summary="The sinusoids of the first transformer are added to word embeddings that are multiplied by the square "
        "root of the width.",
        key="vaswani2017attention",
        settings={"position": "sinusoidal", "combine": "add", "scale_words": True},
        size="Fewer parameters: the table of positions is not trained.",
    )
)
