"""One BERT-style encoder for all variants, as transformers models registered with the Auto classes."""

from analysis.ablation.encoder.config import AddendConfig
from analysis.ablation.encoder.model import (
    AddendForCausalLM,
    AddendForMaskedLM,
    AddendForSequenceClassification,
    AddendModel,
    draw_weights,
)

__all__ = [
    "AddendConfig",
    "AddendForCausalLM",
    "AddendForMaskedLM",
    "AddendForSequenceClassification",
    "AddendModel",
    "draw_weights",
]
