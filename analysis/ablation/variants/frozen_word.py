"""Positions added to word vectors that were trained without them."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="frozen_word",
        title="Frozen words",
        combines="added",
        summary="Learned positions are added to the word table of the same seed's no-position run, which is frozen (in "
        "the output too).",
        settings={"freeze_words": True, "position": "learned", "combine": "add"},
        needs="no_position",
        size="Fewer trained parameters: the word table is frozen.",
    )
)
