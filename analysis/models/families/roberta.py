"""RoBERTa: BERT's structure; positions are counted from the padding's row on, so that the first token has row 2."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Roberta(Bert):
    """`transformers` RobertaModel and whatever wraps it (Liu et al. 2019)."""

    title = "RoBERTa"


FAMILIES.add("roberta", Roberta())
