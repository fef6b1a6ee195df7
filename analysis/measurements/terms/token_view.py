"""A decomposition as a reader wants to see it: word pieces or words, special tokens or not, centred or raw.

Characters of tokens that nobody can see, or that would join what stands before them, are made visible. The General
Categories are those of the Unicode Standard, chapter 4; other characters that are drawn as nothing have its property
Default_Ignorable_Code_Point.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from numpy import ndarray

from analysis.measurements.terms.result import BLANKS, PIECE_MARK, Decomposition, TokenInfo

DOTTED_CIRCLE = "◌"
"""The character on which Unicode's own charts draw combining characters."""
IGNORED = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164)))
"""Drawn as nothing, though their categories are those of letters, marks or symbols."""


@dataclass(frozen=True)
class TokenView:
    """One head's maps over the tokens, or words, that are shown. Arrays are (query, key)."""

    labels: list[str]
    terms: dict[str, Float[ndarray, "query key"]]
    rest: Float[ndarray, "query key"]
    """The sum of the terms that are not in `terms`."""
    total: Float[ndarray, "query key"]
    pattern: Float[ndarray, "query key"]
    first: int = 0
    """The index of the first row and column among all that could be shown."""

    def part(self, first: int, last: int) -> "TokenView":
        """Rows and columns from index `first` to `last`, both included."""
        rows = slice(first, last + 1)
        return TokenView(
            labels=self.labels[rows],
            terms={term: values[rows, rows] for term, values in self.terms.items()},
            rest=self.rest[rows, rows],
            total=self.total[rows, rows],
            pattern=self.pattern[rows, rows],
            first=self.first + first,
        )


def token_view(
    decomposition: Decomposition, head: int, terms: Sequence[str], *, words: bool, specials: bool, centred: bool
) -> TokenView:
    """One head's maps.

    centred: subtract from every row its mean over the keys that its query attends to, shown or not: softmax
    ignores it. Keys that it does not attend to are 0 then.
    words: merge the pieces of a word. Scores are averaged over its pieces; the pattern is averaged over
    query pieces and summed over key pieces, as in Clark et al. 2019, so its rows still sum to 1.
    specials: keep [CLS], [SEP] and the like; without them rows of the pattern sum to less than 1.
    """
    groups = _groups(decomposition.token_info, words, specials)
    whole = [members for _, members in groups] == [[index] for index in range(len(decomposition.token_info))]
    average = np.zeros((len(groups), len(decomposition.token_info)), dtype=np.float32)
    for row, (_, members) in enumerate(groups):
        average[row, members] = 1 / len(members)
    collect = (average > 0).astype(np.float32)

    def shown(scores: Float[ndarray, "token token"]) -> Float[ndarray, "query key"]:
        if centred:
            scores = _centred(scores, decomposition.attended)
        return scores if whole else average @ scores @ average.T

    maps = {term: shown(decomposition.terms_of(term, head)) for term in terms}
    total = shown(decomposition.scores[head])
    return TokenView(
        labels=[label for label, _ in groups],
        terms=maps,
        rest=total - np.sum(list(maps.values()), axis=0),
        total=total,
        pattern=decomposition.pattern_of(head) if whole else average @ decomposition.pattern_of(head) @ collect.T,
    )


def _centred(scores: Float[ndarray, "query key"], attended: Bool[ndarray, "query key"] | None) -> ndarray:
    if attended is None:
        return scores - scores.mean(-1, keepdims=True)
    return np.where(attended, scores - scores.mean(-1, keepdims=True, where=attended), 0)


def labels(tokens: Sequence[TokenInfo], *, words: bool, specials: bool) -> list[str]:
    """The labels of the rows that `arrange` makes."""
    return [label for label, _ in _groups(tokens, words, specials)]


def _groups(tokens: Sequence[TokenInfo], words: bool, specials: bool) -> list[tuple[str, list[int]]]:
    """Label and member tokens of each row."""
    groups: list[tuple[str, list[int]]] = []
    for index, token in enumerate(tokens):
        if token.special and not specials:
            continue
        if words and groups and not token.special and tokens[groups[-1][1][-1]].word == token.word:
            label, members = groups[-1]
            begun = "" if label in BLANKS else label
            groups[-1] = (joined(begun, token.text.removeprefix(PIECE_MARK)), [*members, index])
        else:
            groups.append((token.text, [index]))
    return groups


def visible(text: str) -> str:
    """The text with every zero-width or control character as its code point, <U+200B>; a combining one that begins
    it stands on a dotted circle."""
    shown = "".join(f"<U+{ord(letter):04X}>" if _unseen(letter) else letter for letter in text)
    return DOTTED_CIRCLE + shown if shown and unicodedata.category(shown[0]).startswith("M") else shown


def joined(first: str, second: str) -> str:
    """Two visible pieces of one word as its text: a combining character stands on what it follows."""
    return first + second.removeprefix(DOTTED_CIRCLE) if first else second


def _unseen(letter: str) -> bool:
    variation = "\ufe00" <= letter <= "\ufe0f" or "\U000e0100" <= letter <= "\U000e01ef"
    return variation or letter in IGNORED or letter == "\uffa0" or unicodedata.category(letter) in ("Cf", "Cc")
