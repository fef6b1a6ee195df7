"""SmolLM3: Llama, but every fourth layer does not rotate: there only the causal mask tells order."""

from analysis.models.families import FAMILIES
from analysis.models.families.llama import Llama

FAMILIES.add("smollm3", Llama("SmolLM3"))
