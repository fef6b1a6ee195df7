"""GPT-NeoX and Pythia: a part of each query and key is rotated; attention and feed-forward read the same state."""

from analysis.models.families import FAMILIES, Family


class GptNeox(Family):
    """`transformers` GPTNeoXModel and whatever wraps it (Black et al. 2022; Biderman et al. 2023)."""

    title = "GPT-NeoX"
    positions = "rotated"
    tables = (("word", "embed_in"),)
    """Positions turn queries and keys, and are no summand."""
    layer_list = "layers"
    attention = "attention"
    rotation = "rotary_emb"


FAMILIES.add("gpt_neox", GptNeox())
