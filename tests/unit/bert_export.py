"""A checkpoint as the transformers class it is a special case of."""

from transformers import BertConfig, BertForMaskedLM

from analysis.ablation.encoder.config import AddendConfig
from analysis.ablation.encoder.model import AddendForMaskedLM
from analysis.core.errors import AddendError

PERMITTED = {"variant", "position", "combine", "freeze_words", "position_start", "position_deviation"}
"""Fields of ours that may differ from their defaults in a model that is BERT all the same."""


def to_bert(model: AddendForMaskedLM) -> BertForMaskedLM:
    """The same weights as BertForMaskedLM. Raises AddendError for a variant that BERT cannot compute."""
    config, defaults = model.config, AddendConfig()
    unsupported = [
        name
        for name in AddendConfig.__annotations__
        if name not in PERMITTED and not hasattr(BertConfig, name) and getattr(config, name) != getattr(defaults, name)
    ]
    if unsupported or config.position != "learned" or config.combine != "add":
        reason = ", ".join(unsupported) or f"position={config.position}, combine={config.combine}"
        raise AddendError(
            f"The variant {config.variant!r} is not BERT ({reason}); only bert_a and variants that compute the same "
            "can be exported."
        )
    bert_fields = {
        name: getattr(config, name)
        for name in AddendConfig.__annotations__
        if name != "model_type" and hasattr(BertConfig, name)
    }
    bert = BertForMaskedLM(BertConfig(**bert_fields))
    bert.to(model.dtype)  # pyright: ignore[reportArgumentType]  transformers wraps `to`
    bert.load_state_dict({name.replace("addend.", "bert.", 1): value for name, value in model.state_dict().items()})
    return bert
