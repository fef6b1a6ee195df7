"""A penalty on the score, linear in the distance."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="alibi",
        title="ALiBi, symmetric",
        combines="biased",
        summary="Each head subtracts the distance times a fixed slope, on both sides alike: it cannot tell before from "
        "after.",
        key="press2022alibi",
        settings={"alibi": True},
        size="Fewer parameters: ALiBi has none.",
    )
)
