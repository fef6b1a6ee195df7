"""Next-token prediction with learned positions, added."""

from analysis.ablation.variants.base import Variant, register

register(
    Variant(
        name="causal_bert_a",
        title="Causal, added",
        combines="added",
        summary="Each token sees those before it and predicts the next; learned positions are added. Its loss "
        "measures another task than that of the masked models.",
        settings={"causal": True, "position": "learned", "combine": "add"},
    )
)
