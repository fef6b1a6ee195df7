"""Qwen2: Llama, with biases on queries, keys and values (Yang et al. 2024)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama

FAMILIES.add("qwen2", Llama("Qwen2"))
