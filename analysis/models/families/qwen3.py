"""Qwen3: Llama, with every head's query and key normalised before they are rotated (Yang et al. 2025)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama


class Qwen3(Llama):
    """`transformers` Qwen3Model and whatever wraps it."""

    title = "Qwen3"


FAMILIES.add("qwen3", Qwen3())
