"""The encoder's config: BERT's fields, and what says how word and position are combined."""

from huggingface_hub.dataclasses import strict
from transformers import PreTrainedConfig

MODEL_TYPE = "addend"


@strict
class AddendConfig(PreTrainedConfig):
    """A BERT-style encoder whose way of combining word and position is a set of fields.

    The fields below `variant` are what an entry of `analysis/ablation/variants.py` sets; a checkpoint carries
    them, so it opens without that file. Unless said otherwise their defaults leave position out.

    position: which table of positions there is: none, learned, sinusoidal or random_fixed.
    combine: how it enters the input: none, add, concat, multiply, project (concatenated, each at full width, and led
    back to the width by one learned projection), or add_project (added, and followed by one learned projection).
    position_dim: with concat, the width that positions take (of hidden_size).
    word_width: with add, the width of the word table where words are narrower than the model; zeros fill the rest.
    leading: a sinusoidal table holds only the first `position_dim` dimensions of a code that is as wide as the model:
    with concat it is as narrow as these, and with add the rest of it is zero.
    blocked: with concat, each part keeps a normalisation and a block of every head's W_Q and W_K to itself.
    position_norm: with add, word + segment and position are each layer-normalised, and not the sum.
    scale_words: words are multiplied by sqrt(hidden_size) (Vaswani et al. 2017, section 3.4).
    segments: whether segment embeddings are added. freeze_words: the word table is not trained.
    untied: positions in the scores apart from words: none; own (TUPE: projections of their own, once for
    all layers); word (each layer's word projections); added (projections of their own, added to the
    queries and keys, so that all four terms are there: BERT-A^d); shared (each layer's word projections read the sum
    of hidden states and positions, so that all four terms are there).
    told_to: with shared, what reads that sum: attention (queries and keys), values (these and values), or hidden (the
    state that enters the layer, so that it also stays in the stream). told_layers: with added and shared, the number of
    first layers in which positions are told; 0 for all. told_norm: whether these positions are layer-normalised; where
    not, their table starts at the deviation of 1 that the norm would give them.
    untie_cls: the first token's row and column of position scores are reset (TUPE).
    relative_buckets: T5's bias on the scores, this many buckets; 0 for none.
    rotary, alibi: as named. rotary_share: the share of each head's dimensions that rotary turns: the first ones,
    with the frequencies of a head of that width, as in GPT-J. one_turned_key: all heads share these dimensions of the
    key, as in DeepSeek-V2; the queries' are each head's own.
    polar: PoPE (Gopalakrishnan et al. 2025): queries and keys give lengths alone, softplus of each number, and
    position gives the angles: one frequency a dimension, and a learned phase of the keys.
    disentangled: DeBERTa's c2p and p2c over this distance; 0 for none.
    scale_terms: scores are divided by sqrt(scale_terms * head dimension).
    window: keys attended on each side ([CLS] sees and is seen by all); 0 for all.
    recurrent: a bidirectional GRU before the first layer. causal: keys after the query are masked.
    norm: post (BERT's) or pre.
    matched_scales: position starts as strong as learned positions do: a fixed table is multiplied by
    initializer_range, and a factor is 1 + table / initializer_range with the table drawn like any other.
    full_head: with concat, words are predicted from all of the width: the head's transform keeps it, and a
    projection leads to the width of the word table.
    projection_start: with project and add_project, where the projection starts: `normal` numbers like those of any
    other matrix, or the `identity` in every block, with which the encoder starts as adding does.
    position_start, position_deviation: a learned table starts from `normal` numbers or from `sinusoidal` ones, of
    this standard deviation; 0 stands for initializer_range. A fixed sinusoidal table has this deviation, too, if it is
    given.
    single_segment: every token is given segment 0.
    """

    model_type = MODEL_TYPE

    vocab_size: int = 2048
    hidden_size: int = 128
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    intermediate_size: int = 512
    hidden_act: str = "gelu"
    hidden_dropout_prob: float | int = 0.0
    attention_probs_dropout_prob: float | int = 0.0
    max_position_embeddings: int = 256
    type_vocab_size: int = 2
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int | None = 0
    classifier_dropout: float | int | None = None
    tie_word_embeddings: bool = True
    norm: str = "post"

    variant: str = ""
    position: str = "none"
    combine: str = "none"
    position_dim: int = 0
    word_width: int = 0
    leading: bool = False
    blocked: bool = False
    position_norm: bool = False
    scale_words: bool = False
    segments: bool = True
    freeze_words: bool = False
    untied: str = "none"
    told_to: str = "attention"
    told_layers: int = 0
    told_norm: bool = True
    untie_cls: bool = False
    relative_buckets: int = 0
    rotary: bool = False
    rotary_share: float = 1.0
    one_turned_key: bool = False
    polar: bool = False
    alibi: bool = False
    disentangled: int = 0
    scale_terms: int = 1
    window: int = 0
    recurrent: bool = False
    causal: bool = False
    matched_scales: bool = False
    full_head: bool = False
    projection_start: str = "normal"
    position_start: str = "normal"
    position_deviation: float = 0.0
    single_segment: bool = False

    @property
    def word_dim(self) -> int:
        """The width of the word table."""
        if self.word_width:
            return self.word_width
        return self.hidden_size - (self.position_dim if self.combine == "concat" else 0)

    @property
    def position_width(self) -> int:
        """The width of the table of positions; one that is added is as wide as what it is added to."""
        return self.hidden_size if self.combine == "add" else self.position_dim or self.hidden_size

    @property
    def head_dim(self) -> int:
        """The width of one head."""
        return self.hidden_size // self.num_attention_heads

    @property
    def rotated_dims(self) -> int:
        """The dimensions of a head that rotary turns, an even number."""
        return max(2, 2 * round(self.rotary_share * self.head_dim / 2))
