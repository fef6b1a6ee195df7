"""As bert_a, positions layer-normalised before they are added."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_a_norm",
        title="BERT-A, normalised",
        combines="added",
        summary="Words with segments, and positions, are layer-normalised separately and then added: the two start "
        "equally strong, as in TUPE.",
        settings={"position_norm": True, "position": "learned", "combine": "add"},
        size="One more normalisation.",
    )
)
