"""SmolLM3: Llama, but every fourth layer does not rotate: there only the causal mask tells order."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama


class SmolLM3(Llama):
    """`transformers` SmolLM3Model and whatever wraps it."""

    title = "SmolLM3"


FAMILIES.add("smollm3", SmolLM3())
