"""Names each token of a text as a reader can read it, whatever kind of tokenizer made it.

WordPiece names its pieces in letters. Byte-level and sentencepiece tokenizers do not ("Ġcat", "▁cat", "æķ"), so their
tokens are shown as the part of the text that they stand for; a piece that goes on with a word begins with the same mark
in all of them. Characters of no width are shown by their code points. The beginnings of words are read off the
tokenizer's words and off the text's spaces: some tokenizers, Llama's for one, take the whole text for one word.

Where a tokenizer does not know the words of a text, its files may show the cause.
"""

from collections.abc import Sequence

from transformers import BatchEncoding, PreTrainedTokenizerFast

from analysis.measurements.terms.result import LINE, PIECE_MARK, SPACE, TokenInfo
from analysis.measurements.terms.token_view import visible

MARKS = {"WordPiece": "##", "Unigram": "▁"}
"""The marks of pieces in vocabularies of a kind; those of BPE have one of several marks."""
FOREIGN = {
    "WordPiece": ("Ġ", "▁", "</w>"),
    "BPE": ("##",),
    "Unigram": ("##", "Ġ", "</w>"),
    "WordLevel": ("##", "Ġ", "▁"),
}
"""The marks of other kinds, which a tokenizer of this kind takes for letters."""
KINDS = {"##": "WordPiece", "Ġ": "byte-level BPE", "▁": "SentencePiece", "</w>": "BPE with ends of words"}
"""Kinds of vocabularies, by how they mark their pieces."""
FOREIGN_SHARE = 0.1
"""The share of a vocabulary that has another kind's marks, from which on it counts as that kind's."""


def tokens_of(
    tokenizer: PreTrainedTokenizerFast, encoded: BatchEncoding, texts: tuple[str, str | None], segments: Sequence[int]
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


def _blank(tokenizer: PreTrainedTokenizerFast, token: int) -> str:
    """The sign shown for a piece of spaces or line ends; empty for any other piece."""
    means = str(tokenizer.decode([token]))
    return "" if means.strip() else LINE if "\n" in means else SPACE


def unknown_cause(tokenizer: PreTrainedTokenizerFast, encoded: BatchEncoding, texts: tuple[str, str | None]) -> str:
    """A sentence on why words of a text are unknown; empty where none is, or nothing in the vocabulary says why."""
    words = _unknown_words(tokenizer, encoded, texts)
    if not words:
        return ""
    vocabulary = set(tokenizer.get_vocab())
    return (
        _other_kind(tokenizer, vocabulary) or _changed_case(tokenizer, vocabulary, words) or _letters(vocabulary, words)
    )


def _unknown_words(
    tokenizer: PreTrainedTokenizerFast, encoded: BatchEncoding, texts: tuple[str, str | None]
) -> list[str]:
    """The parts of the texts, as they were typed, that became the unknown token."""
    encoding = (encoded.encodings or [None])[0]
    if encoding is None or tokenizer.unk_token_id is None:
        return []
    items = zip(encoding.ids, encoding.offsets, encoding.sequence_ids, strict=True)
    return [
        (texts[sequence] or "")[start:end].strip()
        for token, (start, end), sequence in items
        if token == tokenizer.unk_token_id and sequence is not None
    ]


def _other_kind(tokenizer: PreTrainedTokenizerFast, vocabulary: set[str]) -> str:
    """A vocabulary of another class's: its pieces are marked otherwise than this tokenizer marks them."""
    model = tokenizer.backend_tokenizer.model
    kind = type(model).__name__
    own = str(getattr(model, "continuing_subword_prefix", None) or MARKS.get(kind, ""))
    counts = {mark: sum(mark in entry for entry in vocabulary) for mark in FOREIGN.get(kind, ()) if mark != own}
    mark = max(counts, key=lambda key: counts[key], default="")
    if not mark or counts[mark] < FOREIGN_SHARE * len(vocabulary) or _own_count(vocabulary, own) > counts[mark]:
        return ""
    return (
        f"Its vocabulary is one of {KINDS[mark]} ({counts[mark]:,} of its {len(vocabulary):,} entries hold {mark}), "
        f"but the tokenizer that reads it is of the kind {kind} ({tokenizer_class(tokenizer)}). Save the tokenizer "
        "that the vocabulary was made with, by save_pretrained, into the model's folder."
    )


def _own_count(vocabulary: set[str], own: str) -> int:
    return sum(own in entry for entry in vocabulary) if own else 0


def _changed_case(tokenizer: PreTrainedTokenizerFast, vocabulary: set[str], words: Sequence[str]) -> str:
    """A tokenizer that changes the case of a text, or leaves it, and a vocabulary that has the other one alone."""
    normalizer = tokenizer.backend_tokenizer.normalizer
    changed = [normalizer.normalize_str(word).strip() if normalizer else word for word in words]
    lowered = [
        word
        for word, looked_up in zip(words, changed, strict=True)
        if word != looked_up
        and looked_up == word.lower()
        and _spelled(word, vocabulary)
        and not _spelled(looked_up, vocabulary)
    ]
    if len(lowered) > len(words) / 2:
        return (
            f"The tokenizer lower-cases every text ({lowered[0]!r} becomes {lowered[0].lower()!r}), and the vocabulary "
            "is in capitals. Set do_lower_case to false in tokenizer_config.json (and lowercase in the normalizer of "
            "tokenizer.json, where there is one)."
        )
    capitals = [
        word
        for word, looked_up in zip(words, changed, strict=True)
        if looked_up == word != word.lower() and _spelled(word.lower(), vocabulary) and not _spelled(word, vocabulary)
    ]
    if len(capitals) > len(words) / 2:
        return (
            f"The tokenizer keeps capitals, and the vocabulary is in lower case ({capitals[0].lower()!r} is in it, "
            f"{capitals[0]!r} is not). Set do_lower_case to true in tokenizer_config.json, or type the text in lower "
            "case."
        )
    return ""


def _spelled(word: str, vocabulary: set[str]) -> bool:
    """True if a vocabulary has a word, or all of its letters."""
    return word in vocabulary or all(letter in vocabulary or f"##{letter}" in vocabulary for letter in word)


def _letters(vocabulary: set[str], words: Sequence[str]) -> str:
    """Words whose letters are known one by one, and not as parts of a word: proteins, written without spaces."""
    spaced = [word for word in words if len(word) > 1 and all(letter in vocabulary for letter in word)]
    if len(spaced) <= len(words) / 2:
        return ""
    return f"The vocabulary has the letters of {spaced[0][:20]!r} one by one. Put spaces between them."


def tokenizer_class(tokenizer: PreTrainedTokenizerFast) -> str:
    """The name of a tokenizer's class, of the one in a sandbox too."""
    return type(getattr(tokenizer, "_tokenizer", None) or tokenizer).__name__
