"""The position map of a model on one text. Numpy only."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.measurements.terms.result import Provenance

PARTS = ("content", "position", "both")


@dataclass(frozen=True)
class LayerRotation:
    """The rotation of one layer. turned: dimensions of `width` that are rotated; `width` is 0 for a layer without
    attention. slowest, fastest: wavelengths in tokens; NaN where nothing is rotated.

    size: the factor that the rotation multiplies queries and keys by, each. error: the difference of this rotation from
    the model's own, over the size of its queries.
    """

    turned: int
    width: int
    fastest: float
    slowest: float
    size: float
    error: float


@dataclass(frozen=True)
class PositionMap:
    """The dependence of every layer's scores on content and position, on one text.

    sources: the rows of the map: the bands of wavelengths, "not turned", and the terms that are added. numerators:
    (layer, source, part, head), parts as `PARTS`; power: (layer, head), the sum of squares of the key-centred scores. A
    share is the first over the second; shares of a layer sum to 1. kernels: (layer, band, head, distance), mean scores
    at distances from -(tokens - 1) to tokens - 1; None for a model that rotates nothing. labels: the tokens. joined: of
    each head, the pairs (query, key) that a source joins most, and their key-centred scores, NaN where there are fewer.
    errors: by layer, the largest |sum - the model's own score| over the scores' range.
    """

    sources: tuple[str, ...]
    numerators: Float[ndarray, "layer source part head"]
    power: Float[ndarray, "layer head"]
    kernels: Float[ndarray, "layer band head distance"] | None
    rotations: tuple[LayerRotation, ...]
    errors: Float[ndarray, " layer"]
    kind: str
    looks_ahead: bool
    """True if a query attends to later tokens."""
    labels: tuple[str, ...]
    joined: Int[ndarray, "layer source head rank 2"]
    joined_scores: Float[ndarray, "layer source head rank"]
    provenance: Provenance
    sinks: bool = False
    """True if the softmax has a score beside those of the keys, with which their mean competes."""
    capped: bool = False
    """True if the model squeezes its scores into a range, which is left out here."""
    command: str = ""
    """The command that measured a stored map; else empty."""

    @property
    def tokens(self) -> int:
        """The number of tokens of the text."""
        return len(self.labels)

    def shares(self) -> Float[ndarray, "layer source part"]:
        """Shares pooled over the heads of a layer; NaN where a layer's scores are constant."""
        power = self.power.sum(-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(power > 0, self.numerators.sum(-1).transpose(1, 2, 0) / power, np.nan).transpose(2, 0, 1)

    def position_share(self) -> Float[ndarray, "layer source"]:
        """The share that depends on position, alone or with content."""
        return self.shares()[..., 1:].sum(-1)


@dataclass(frozen=True)
class Unturned:
    """The loss of a model when one layer does not rotate a band. Columns: the bands, then all of them at once.

    values: (layer, column), by `measure`; NaN where a layer has no pairs in a band. losses: the change of the loss on
    the text, in nats a token, of a causal model with its head; NaN for others. loss: the loss of the unchanged model.
    """

    values: Float[ndarray, "layer column"]
    losses: Float[ndarray, "layer column"]
    loss: float
    measure: str
    tokens: int
    provenance: Provenance
