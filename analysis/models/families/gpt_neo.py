"""GPT-Neo: GPT-2's sum of word and position; scores are not scaled, and every other layer looks back a window."""

from torch import nn

from analysis.models.families import FAMILIES
from analysis.models.families.gpt2 import Gpt2


class GptNeo(Gpt2):
    """`transformers` GPTNeoModel and whatever wraps it (Black et al. 2021)."""

    title = "GPT-Neo"
    custom_attention = True
    attention = "attn.attention"

    def scale(self, module: nn.Module) -> float:
        """None: its initialisation makes up for it."""
        return 1.0


FAMILIES.add("gpt_neo", GptNeo())
