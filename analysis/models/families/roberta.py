"""RoBERTa and its kin: BERT with positions that count the tokens before, from padding_idx + 1, and one segment."""

from transformers import PreTrainedConfig

from analysis.models.families import FAMILIES
from analysis.models.families.bert import Bert


class Roberta(Bert):
    """RobertaModel, XLMRobertaModel and CamembertModel (Liu et al. 2019; Conneau et al. 2020; Martin et al. 2020)."""

    title = "RoBERTa"

    def longest(self, config: PreTrainedConfig) -> int:
        """Rows of the position table less those up to padding_idx, which no token uses."""
        return config.max_position_embeddings - config.pad_token_id - 1


FAMILIES.add("roberta", Roberta())
FAMILIES.add("xlm-roberta", Roberta("XLM-R", kin=True))  # a hundred languages
FAMILIES.add("camembert", Roberta("CamemBERT", kin=True))  # French
