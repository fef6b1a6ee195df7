"""As bert_a, the learned table started from sinusoids."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="bert_a_smooth",
        title="BERT-A, smooth start",
        combines="added",
        summary="As BERT-A, but the learned table of positions starts from sines and cosines of standard deviation "
        "0.1 instead of random numbers, so that neighbouring positions start alike.",
        settings={
            "position": "learned",
            "combine": "add",
            "position_start": "sinusoidal",
            "position_deviation": 0.1,
        },
    )
)
