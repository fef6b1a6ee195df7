"""The vectors of a model that measures take: tables, hidden states less their positions, projections of heads.

Arrays are float64 NumPy. Shapes: V words, P positions, N tokens, D width, H heads, K a head's width.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True, kw_only=True)
class States:
    """Hidden states that enter a layer, split by the position basis of method `mean`."""

    layer: int
    position: Float[ndarray, "P D"]
    rest: Float[ndarray, "N D"]
    """Hidden states less their mean and position: the part of word and context."""


@dataclass(frozen=True, kw_only=True)
class LayerProjections:
    """One layer's projections and what meets them: inputs that word (or the rest) and position give."""

    layer: int
    query: Float[ndarray, "H D K"]
    key: Float[ndarray, "H D K"]
    word: Float[ndarray, "N D"]
    position: Float[ndarray, "N D"]


@dataclass(frozen=True, kw_only=True)
class ModelVectors:
    """The tables as they enter the sum, before any norm, and what is known of the layers."""

    word: Float[ndarray, "V D"] | None = None
    tokens: Sequence[str] = ()
    """The words' names; special and unused tokens are left out."""
    position: Float[ndarray, "P D"] | None = None
    added: bool = False
    """True if word and position are added to one another in one vector."""
    word_position_range: tuple[int, int] = (0, 0)
    """First position that a word can hold, and the one after the last; the others are special tokens' own."""
    states: Sequence[States] = ()
    heads: Sequence[LayerProjections] = ()

    def has(self, need: str) -> bool:
        """True if the model has the part that a measure needs, by the names of `base.NEEDS`."""
        return {
            "word": self.word is not None,
            "position": self.position is not None,
            "sum": self.added and self.word is not None and self.position is not None,
            "states": bool(self.states),
            "heads": bool(self.heads),
        }[need]

    def sums(self) -> tuple[Float[ndarray, "V D"], Float[ndarray, "P D"]]:
        """Words, and positions that a word can hold."""
        assert self.word is not None
        assert self.position is not None
        return self.word, self.position[slice(*self.word_position_range)]

    def tables(self) -> dict[str, ndarray]:
        """Every table there is, raw and less its mean row, by subject."""
        entries = {"word": self.word, "position": self.position}
        there = {name: table for name, table in entries.items() if table is not None}
        return there | {f"{name}_centred": centred(table) for name, table in there.items()}


def centred(table: Float[ndarray, "row dim"]) -> Float[ndarray, "row dim"]:
    """The table less its mean row."""
    return table - table.mean(0)


def axes(table: Float[ndarray, "row dim"]) -> tuple[Float[ndarray, " axis"], Float[ndarray, "dim axis"]]:
    """Squared singular values, descending, and the right singular vectors in columns.

    By the smaller of the two Gram matrices' sizes: a vocabulary has far more rows than dimensions.
    """
    values, vectors = np.linalg.eigh(table.T @ table)
    return np.maximum(values[::-1], 0), vectors[:, ::-1]
