"""Next-token prediction without positions: the mask alone tells order."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_no_position",
        title="Causal, no position",
        combines="absent",
        summary="Each token sees those before it and predicts the next; no positions. Its loss measures another task "
        "than that of the masked models.",
        key="haviv2022nopos",
        settings={"causal": True},
        size="Fewer parameters: there is no table of positions.",
    )
)
