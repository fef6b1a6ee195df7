"""Mistral: Llama, with keys that are seen through a sliding window (Jiang et al. 2023)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama

FAMILIES.add("mistral", Llama("Mistral"))
