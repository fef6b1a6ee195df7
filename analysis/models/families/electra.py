"""ELECTRA, generator or discriminator: BERT whose embeddings may be narrower than its layers, and then pass through a
projection (Clark et al. 2020)."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert

FAMILIES.add("electra", Bert("ELECTRA"))
