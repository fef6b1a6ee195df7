"""GPT-Neo: GPT-2's sum of word and position; scores are not scaled, and every other layer looks back a window."""

from torch import nn

from analysis.models.families import FAMILIES, Family


class GptNeo(Family):
    """`transformers` GPTNeoModel and whatever wraps it (Black et al. 2021)."""

    title = "GPT-Neo"
    custom_attention = True
    tables = (("word", "wte"), ("position", "wpe"))
    layer_list = "h"
    attention = "attn.attention"

    def scale(self, module: nn.Module) -> float:
        """None: its initialisation makes up for it."""
        return 1.0


FAMILIES.add("gpt_neo", GptNeo())
