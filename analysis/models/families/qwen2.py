"""Qwen2: Llama, with biases on queries, keys and values (Yang et al. 2024)."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama


class Qwen2(Llama):
    """`transformers` Qwen2Model and whatever wraps it."""

    title = "Qwen2"


FAMILIES.add("qwen2", Qwen2())
