"""Words and positions side by side, and kept apart in the scores."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="concat_blocked",
        title="Concatenated, blocked",
        combines="concatenated",
        summary="Words and positions have half of the width each and are normalised separately; half of every head "
        "compares words with words, half positions with positions. No cross terms at layer 0; values and "
        "feed-forward mix the parts for the layers after it.",
        settings={"position": "learned", "combine": "concat", "blocked": True},
        position_share=0.5,
        size="Fewer parameters: the tables are half as wide, and so are the query and key blocks.",
    )
)
