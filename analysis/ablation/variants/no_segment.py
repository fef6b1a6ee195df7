"""As bert_a without segment embeddings."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="no_segment",
        title="No segments",
        combines="added",
        summary="BERT-A without segment embeddings: which of two texts a word is in must be read off [SEP].",
        settings={"segments": False, "position": "learned", "combine": "add"},
        size="Fewer parameters: no segment table.",
    )
)
