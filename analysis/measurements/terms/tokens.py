"""Names each token of a text as a reader can read it, whatever kind of tokenizer made it.

WordPiece names its pieces in letters. Byte-level and sentencepiece tokenizers do not ("Ġcat", "▁cat", "æķ"), so their
tokens are shown as the part of the text that they stand for; a piece that goes on with a word begins with the same mark
in all of them. Characters of no width are shown by their code points. The beginnings of words are read off the
tokenizer's words and off the text's spaces: some tokenizers, Llama's for one, take the whole text for one word.
"""

from collections.abc import Sequence

from transformers import BatchEncoding

from analysis.core.visible_text import visible
from analysis.measurements.terms.result import LINE, PIECE_MARK, SPACE, TokenInfo
from analysis.models.tokenizer import Tokenizer


def tokens_of(
    tokenizer: Tokenizer, encoded: BatchEncoding, texts: tuple[str, str | None], segments: Sequence[int]
) -> tuple[TokenInfo, ...]:
    """The tokens of one text or pair; `encoded` is what the (fast) tokenizer made of it, `segments` one a token."""
    ids = encoded["input_ids"][0].tolist()
    names = tokenizer.convert_ids_to_tokens(ids)
    readable = type(tokenizer.backend_tokenizer.decoder).__name__ in ("WordPiece", "NoneType")
    assert encoded.encodings is not None  # every tokenizer here is a fast one
    offsets, items = encoded.encodings[0].offsets, list[TokenInfo]()
    # Up to where the text has been shown, and what the last token was of: one character may be several tokens.
    done, sequence_before, word_before, number = 0, None, None, -1
    for index, (word, sequence) in enumerate(zip(encoded.word_ids(0), encoded.sequence_ids(0), strict=True)):
        if word is None or sequence is None:
            items.append(TokenInfo(names[index], None, segments[index]))
            continue
        if sequence != sequence_before:
            done, sequence_before, word_before, number = 0, sequence, None, -1
        text = texts[sequence] or ""
        start, end = offsets[index]
        blank = "" if readable else _blank(tokenizer, ids[index])
        begins = word != word_before or bool(blank) or any(letter.isspace() for letter in text[done : start + 1])
        number, word_before = number + begins, word
        if readable or ids[index] == tokenizer.unk_token_id:
            mark = PIECE_MARK if names[index].startswith(PIECE_MARK) else ""
            shown = mark + visible(names[index].removeprefix(PIECE_MARK))
        else:
            shown = blank or ("" if begins else PIECE_MARK) + visible(text[max(start, done) : end].strip())
        spaces = len(text[start:end]) - len(text[start:end].lstrip())
        done = max(done, start + spaces if blank else end)
        items.append(TokenInfo(shown, (sequence, number), segments[index]))
    return tuple(items)


def _blank(tokenizer: Tokenizer, token: int) -> str:
    """The sign shown for a piece of spaces or line ends; empty for any other piece."""
    means = str(tokenizer.decode([token]))
    return "" if means.strip() else LINE if "\n" in means else SPACE
