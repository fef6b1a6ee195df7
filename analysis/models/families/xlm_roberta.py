"""XLM-R: RoBERTa in a hundred languages."""

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class XlmRoberta(Bert):
    """`transformers` XLMRobertaModel and whatever wraps it (Conneau et al. 2020)."""

    title = "XLM-R"


FAMILIES.add("xlm-roberta", XlmRoberta())
