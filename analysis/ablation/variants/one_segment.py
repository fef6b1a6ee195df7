"""As bert_a, every token in segment 0."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="one_segment",
        title="One segment",
        combines="added",
        summary="BERT-A whose tokens all have the segment embedding 0: the embedding is there and tells no "
        "text from another.",
        settings={"single_segment": True, "position": "learned", "combine": "add"},
    )
)
