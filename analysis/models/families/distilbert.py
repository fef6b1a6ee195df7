"""DistilBERT: half of BERT's layers, and no segments."""

from analysis.models.families import FAMILIES, Family


class DistilBert(Family):
    """DistilBertModel (Sanh et al. 2019)."""

    title = "DistilBERT"
    tables = (("word", "embeddings.word_embeddings"), ("position", "embeddings.position_embeddings"))
    layer_list = "transformer.layer"
    attention = "attention"


FAMILIES.add("distilbert", DistilBert())
