"""No positions; a GRU reads the words in order first."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="recurrent",
        title="Recurrent",
        combines="absent",
        summary="No positions, but a bidirectional GRU runs over the words before the first layer.",
        settings={"recurrent": True},
        size="More parameters: the GRU has more than the table of positions it replaces.",
    )
)
