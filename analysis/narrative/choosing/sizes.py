"""The parameters and the arithmetic that telling positions costs a transformer of any size, by formula.

Parameters count everything: word table, layers, and what positions need. Arithmetic counts the matrix products of one
text's share of a forward pass over a batch, a multiplication and an addition being two, as torch's counter does: sums,
rotations and biases are no products. `tests/unit/test_choosing_sizes.py` holds both to models that transformers builds.
"""

from collections.abc import Callable
from dataclasses import dataclass

VOCABULARY = 30_522
"""Words in the table: BERT's."""
TEXTS = 16
"""The texts of a batch, which share what is computed of positions alone."""
BUCKETS = 32
"""Numbers for each head of T5's bias."""


@dataclass(frozen=True)
class ModelSize:
    """A transformer with feed-forward layers of four times its width, and the length of its texts in tokens."""

    width: int = 768
    layers: int = 12
    heads: int = 12
    length: int = 512

    @property
    def parameters(self) -> int:
        """All but those that positions need: the word table, and in each layer matrices, biases and two norms."""
        return VOCABULARY * self.width + self.layers * (12 * self.width**2 + 13 * self.width)

    @property
    def products(self) -> int:
        """Those of all layers for one text, positions left out: projections, feed-forward layers, and attention."""
        return self.layers * self.length * (24 * self.width**2 + 4 * self.length * self.width)


@dataclass(frozen=True)
class Extra:
    """The cost of positions as functions of the size, and a formula in words.

    products: of each text. shared: products that all texts of a batch share.
    """

    parameters: Callable[[ModelSize], int] = lambda size: 0
    products: Callable[[ModelSize], int] = lambda size: 0
    shared: Callable[[ModelSize], int] = lambda size: 0
    formula: str = "no parameters and no matrix product"


TABLE = Extra(lambda size: size.length * size.width, formula="a table of length × width")
EXTRAS: dict[str, Extra] = {
    "bert_a": TABLE,
    "relative_only": Extra(
        lambda size: BUCKETS * size.heads, formula=f"{BUCKETS} numbers for each head, shared by all layers"
    ),
    "deberta": Extra(
        lambda size: 2 * size.length * size.width + size.layers * 2 * (size.width**2 + size.width),
        lambda size: size.layers * 8 * size.length**2 * size.width,
        lambda size: size.layers * 8 * size.length * size.width**2,
        "a table of 2 × length × width where each distance has a vector of its own, two more projections in each "
        "layer, and two more products of scores (DeBERTa-v3 lets far distances share a vector and reuses the words' "
        "projections, and so needs less)",
    ),
    "tupe_a": Extra(
        lambda size: (size.length + 1) * size.width + 2 * size.width + 2 * (size.width**2 + size.width),
        shared=lambda size: 4 * (size.length + 1) * size.width**2 + 2 * (size.length + 1) ** 2 * size.width,
        formula="a table of length × width, its norm, and two projections, used once for all layers",
    ),
    "causal_polar": Extra(
        lambda size: size.layers * size.width,
        lambda size: size.layers * 2 * size.length**2 * size.width,
        formula="a learned phase for each dimension in each layer, and products of scores that are twice as long",
    ),
}
"""The ways that cost anything, by variant."""


def extra(variant: str) -> Extra:
    """The cost of a way; nothing for one that computes positions, or has none."""
    return EXTRAS.get(variant, Extra())


def parameters(variant: str, size: ModelSize) -> int:
    """All parameters of a model that tells positions in this way."""
    return size.parameters + extra(variant).parameters(size)


def products(variant: str, size: ModelSize) -> float:
    """All matrix products of one text, in a batch of `TEXTS`, in a model that tells positions in this way."""
    return size.products + extra(variant).products(size) + extra(variant).shared(size) / TEXTS
