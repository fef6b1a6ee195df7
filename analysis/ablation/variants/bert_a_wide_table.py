"""As bert_a, the learned table drawn five times as wide."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_a_wide_table",
        title="BERT-A, wide start",
        combines="added",
        summary="As BERT-A, but the learned table of positions is drawn at first with standard deviation 0.1, five "
        "times that of the words.",
        settings={"position": "learned", "combine": "add", "position_deviation": 0.1},
    )
)
