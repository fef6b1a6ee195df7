"""CamemBERT: RoBERTa in French."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Camembert(Bert):
    """`transformers` CamembertModel and whatever wraps it (Martin et al. 2020)."""

    title = "CamemBERT"


FAMILIES.add("camembert", Camembert())
