"""ELECTRA: BERT whose embeddings may be narrower than its layers, and then pass through a projection."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Electra(Bert):
    """ElectraModel, generator or discriminator (Clark et al. 2020)."""

    title = "ELECTRA"


FAMILIES.add("electra", Electra())
