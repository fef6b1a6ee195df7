"""Positions added to word vectors that bert_a trained together with its own positions."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="frozen_own_word",
        title="Frozen words of BERT-A",
        combines="added",
        summary="Learned positions are added to the word table of the same seed's BERT-A run, which is frozen (in "
        "the output too). This control separates the effect of freezing the words from that of where they come "
        "from.",
        settings={"freeze_words": True, "position": "learned", "combine": "add"},
        needs="bert_a",
        size="Fewer trained parameters: the word table is frozen.",
    )
)
