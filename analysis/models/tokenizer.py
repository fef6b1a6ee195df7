"""The tokenizers that models are read with."""

from transformers import PreTrainedTokenizerFast

Tokenizer = PreTrainedTokenizerFast
"""A fast tokenizer of transformers, which makes tokens of a text and says what word a token belongs to."""
