"""The tokenizers that models are read with."""

from transformers import PreTrainedTokenizerFast

Tokenizer = PreTrainedTokenizerFast
"""What makes tokens of a text: a fast tokenizer of transformers, which says what word a token belongs to."""
