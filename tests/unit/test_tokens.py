"""Tokens are shown as the text they stand for and know their words, whatever kind of tokenizer made them.

The reference is the text itself: words put together again are its words.
"""

import unicodedata
from typing import Any

import pytest
import torch
from specimens import tiny_tokenizer
from tiny_tokenizers import TEXT, byte_level, sentencepiece_bpe, unigram
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import GPT2Config, GPT2Model, PreTrainedTokenizerFast

from analysis.figures.one_run import unknown_tokens_note
from analysis.measurements.terms import decompose
from analysis.measurements.terms.result import BLANKS, TokenInfo
from analysis.measurements.terms.run import encode
from analysis.measurements.terms.token_view import joined, token_view, visible


def model_for(tokenizer: Any, **changes: Any) -> Any:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"n_embd": 16, "n_head": 2, "n_layer": 2, "n_positions": 60, "vocab_size": len(tokenizer)}
    return GPT2Model(GPT2Config(**sizes | changes)).eval()


def tokens_of(tokenizer: Any, text: str, pair: str | None = None) -> tuple[TokenInfo, ...]:
    return encode(tokenizer, text, pair, model_for(tokenizer), truncate=False)[1]


def test_pieces_of_bytes_are_shown_as_text() -> None:
    shown = [token.text for token in tokens_of(byte_level(), TEXT)]
    assert shown[:8] == ["The", "cat", "s", "##at", "on", "the", "mat", ","]
    assert shown[-8:] == ["数", "##学", "##", "##", "🙂", "##", "##", "##."]
    assert not any(mark in piece for piece in shown for mark in "ĠÃ¯ðŁ")


def test_sentencepiece_marks_and_bytes_are_shown_as_text() -> None:
    shown = [token.text for token in tokens_of(sentencepiece_bpe(), TEXT)]
    assert shown[:5] == ["<s>", "The", "cat", "sat", "on"]
    assert shown[9:15] == ["n", "##a", "##ï", "##", "##v", "##e"]
    assert not any("▁" in piece or "<0x" in piece for piece in shown)


def words_of(tokenizer: Any, text: str, pair: str | None = None) -> list[str]:
    made = decompose(model_for(tokenizer), tokenizer, text, pair)
    arranged = token_view(made, 0, ["word_to_word"], words=True, specials=False, centred=False)
    assert arranged.pattern.shape == (len(arranged.labels),) * 2
    return arranged.labels


def begins(words: list[str]) -> set[int]:
    """Where words begin in the text without its spaces."""
    return {sum(map(len, words[:index])) for index in range(len(words))}


@pytest.mark.parametrize("text", [TEXT, "the cat", "  the   cat\n\nsat ", "naïve naïve 数学", "🙂"])
@pytest.mark.parametrize("tokenizer", [byte_level, sentencepiece_bpe, unigram])
def test_words_put_together_are_the_words_of_the_text(tokenizer: Any, text: str) -> None:
    if tokenizer is unigram:
        text = text.replace("\n", " ")  # which it does not know
    words = [word for word in words_of(tokenizer(), text) if word not in BLANKS]
    assert "".join(words) == "".join(text.split())
    if tokenizer is byte_level:  # has words of their own for punctuation, as WordPiece has
        assert begins(words) >= begins(text.split())
    else:
        assert words == text.split()


def test_the_words_of_a_pair_are_counted_in_each_text() -> None:
    tokens = tokens_of(sentencepiece_bpe(), "the cat", "the mat sat")
    assert [token.word for token in tokens] == [None, (0, 0), (0, 1), None, (1, 0), (1, 1), (1, 2)]
    assert [token.special for token in tokens] == [True, False, False, True, False, False, False]


def test_what_is_unknown_says_so() -> None:
    shown = [token.text for token in tokens_of(unigram(), "the Z")]
    assert shown[0] == "<s>"
    assert "<unk>" in shown


def test_wordpiece_keeps_its_names() -> None:
    shown = [token.text for token in tokens_of(tiny_tokenizer(), "unhappiness, zebra")]
    assert shown == ["[CLS]", "un", "##happi", "##ness", ",", "[UNK]", "[SEP]"]


def test_segments_are_not_looked_up_among_the_words() -> None:
    """GPT-2 adds the word embedding of every token type it is given; its tokenizer must not decide that."""
    tokenizer = tiny_tokenizer()
    assert "token_type_ids" in tokenizer("the cat")
    inputs, tokens, _ = encode(tokenizer, "the cat", "the mat", model_for(tokenizer), truncate=False)
    assert set(inputs) == {"input_ids", "attention_mask"}
    assert {token.segment for token in tokens} == {0}


# What nobody can see, and what no tokenizer knows ------------------------------------------------------------

INVISIBLE = ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202e", "\ufe0f", "\u034f", "\u3164", "\u2800", "\x1b"]


@pytest.mark.parametrize("letter", INVISIBLE)
def test_a_character_that_is_not_drawn_is_shown_by_its_code_point(letter: str) -> None:
    assert visible(f"a{letter}b") == f"a<U+{ord(letter):04X}>b"
    shown = "".join(token.text for token in tokens_of(byte_level(), f"the {letter} cat"))
    assert letter not in shown


@pytest.mark.parametrize("mark", [chr(code) for code in range(0x300, 0x34F, 7)] + ["\u0e31", "\u093f", "\u20e3"])
def test_a_combining_character_stands_on_a_circle_and_on_its_letter_in_a_word(mark: str) -> None:
    assert visible(mark) == f"◌{mark}"
    assert visible(f"e{mark}") == f"e{mark}"
    assert joined("e", visible(mark)) == f"e{mark}"


def test_every_format_character_of_unicode_is_made_visible() -> None:
    """By the table of Python's unicodedata."""
    for code in range(0x110000):
        if unicodedata.category(chr(code)) == "Cf":
            assert visible(chr(code)) == f"<U+{code:04X}>"


def word_pieces(entries: list[str], *, lowercase: bool) -> Any:
    vocabulary = {entry: index for index, entry in enumerate(["[UNK]", *entries])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=lowercase)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece()
    return PreTrainedTokenizerFast(tokenizer_object=made, unk_token="[UNK]")


CAUSES: dict[str, tuple[list[str], bool, str, str]] = {
    "capitals, lower-cased": (list("ACDEFGHIKLMNPQRSTVWY"), True, "E V Q L", "lower-cases every text"),
    "capital words, lower-cased": (["CAT", "DOG", "THE"], True, "THE CAT", "lower-cases every text"),
    "lower case, not lower-cased": (["the", "cat"], False, "THE CAT", "keeps capitals"),
    "of byte-level pieces": (["Ġthe", "Ġcat", "Ġdog", "a"], True, "the cat", "one of byte-level BPE"),
    "of sentencepiece": (["▁the", "▁cat", "▁dog", "a"], True, "the cat", "one of SentencePiece"),
    "letters without spaces": (list("ACDEFGHIKLMNPQRSTVWY"), False, "EVQLVESGGG", "Put spaces between them"),
    "another language": (["le", "chat"], True, "dog", "trained on such text"),
}


@pytest.mark.parametrize("case", CAUSES)
def test_the_cause_of_unknown_tokens_is_named(case: str) -> None:
    entries, lowercase, text, cause = CAUSES[case]
    tokenizer = word_pieces(entries, lowercase=lowercase)
    made = decompose(model_for(tokenizer), tokenizer, text)
    note = unknown_tokens_note(made)
    assert cause in note
    if "spaces" not in cause:
        assert "put spaces" not in note.lower()
