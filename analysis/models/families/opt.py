"""OPT: learned absolute positions, of which the first two rows are spare, added to the word."""

from analysis.models.families import FAMILIES, Family


class Opt(Family):
    """`transformers` OPTModel and whatever wraps it (Zhang et al. 2022)."""

    title = "OPT"
    tables = (("word", "decoder.embed_tokens"), ("position", "decoder.embed_positions"))
    """A table of words narrower than the model is projected by a linear map."""
    layer_list = "decoder.layers"
    attention = "self_attn"


FAMILIES.add("opt", Opt())
