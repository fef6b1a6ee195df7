"""ELECTRA: BERT's structure; a smaller embedding is projected to the hidden states, its bias to the bias."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Electra(Bert):
    """`transformers` ElectraModel and whatever wraps it (Clark et al. 2020)."""

    title = "ELECTRA"


FAMILIES.add("electra", Electra())
