"""GPT-2: learned absolute positions added to the word, and every norm before what it serves."""

from analysis.models.families import FAMILIES, Family


class Gpt2(Family):
    """`transformers` GPT2Model and whatever wraps it (Radford et al. 2019)."""

    title = "GPT-2"
    tables = (("word", "wte"), ("position", "wpe"))
    layer_list = "h"
    attention = "attn"


FAMILIES.add("gpt2", Gpt2())
