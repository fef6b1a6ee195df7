"""Learned positions, added to the words: what most transformers do."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_a",
        title="BERT-A",
        combines="added",
        summary="Position embeddings are added to word embeddings; one projection serves both, so attention asks all "
        "four questions.",
        key="ke2021tupe",
        settings={"position": "learned", "combine": "add"},
    )
)
