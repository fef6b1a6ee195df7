"""Qwen3: Llama, with every head's query and key normalised before they are rotated (Yang et al. 2025)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama

FAMILIES.add("qwen3", Llama("Qwen3"))
