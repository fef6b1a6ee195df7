"""Characters that nobody can see, or that would join what stands before them, made visible: for tokens.

The General Categories are those of the Unicode Standard, chapter 4; other characters that are drawn as nothing
have its property Default_Ignorable_Code_Point.
"""

import unicodedata

DOTTED_CIRCLE = "◌"
"""The character on which Unicode's own charts draw combining characters."""
IGNORED = frozenset(map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2800, 0x3164)))
"""Drawn as nothing, though their categories are those of letters, marks or symbols."""


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
