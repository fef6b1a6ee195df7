"""Next-token prediction: a model trained with rotary positions goes on for a short while without them."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_drope",
        title="Causal, rotary dropped",
        combines="absent",
        summary="Starts from the trained causal rotary model of the same seed, drops the rotation, and is trained "
        "for a tenth of the steps more: only the mask tells order.",
        key="gelberg2026drope",
        settings={"causal": True},
        size="Fewer parameters: rotary has none.",
        needs="causal_rotary",
        inherits="model",
        share_of_steps=0.1,
    )
)
