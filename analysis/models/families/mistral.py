"""Mistral: Llama, with keys that are seen through a sliding window (Jiang et al. 2023)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama


class Mistral(Llama):
    """`transformers` MistralModel and whatever wraps it."""

    title = "Mistral"


FAMILIES.add("mistral", Mistral())
