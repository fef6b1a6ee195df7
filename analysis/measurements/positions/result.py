"""The position map of a model on one text. Numpy only."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.measurements.terms.result import Provenance

PARTS = ("content", "position", "both")


@dataclass(frozen=True)
class LayerRotation:
    """What one layer turns. turned: dimensions of `width`, which is 0 for a layer without attention. slowest, fastest:
    wavelengths in tokens; NaN where none.

    size: what the turn multiplies queries and keys by, each. error: how far this is from what the model did, over the
    size of its queries.
    """

    turned: int
    width: int
    fastest: float
    slowest: float
    size: float
    error: float


@dataclass(frozen=True)
class PositionMap:
    """What every layer's scores depend on, on one text.

    sources: the bands of wavelengths, "not turned", and what is added: rows of the map. numerators: (layer, source,
    part, head), parts as `PARTS`; power: (layer, head), the sum of squares of the key-centred scores. A share is
    the first over the second; shares of a layer sum to 1.
    kernels: (layer, band, head, distance), mean scores at distances from -(tokens - 1) to tokens - 1; none where
    nothing turns. labels: the tokens. joined: of each head, the pairs (query, key) that a source joins most, and their
    key-centred scores, NaN where there are fewer. errors: by layer, the largest |sum - the model's own score| over the
    scores' range.
    """

    sources: tuple[str, ...]
    numerators: Float[ndarray, "layer source part head"]
    power: Float[ndarray, "layer head"]
    kernels: Float[ndarray, "layer band head distance"] | None
    rotations: tuple[LayerRotation, ...]
    errors: Float[ndarray, " layer"]
    kind: str
    looks_ahead: bool
    """Whether a query attends to later tokens."""
    labels: tuple[str, ...]
    joined: Int[ndarray, "layer source head rank 2"]
    joined_scores: Float[ndarray, "layer source head rank"]
    provenance: Provenance
    sinks: bool = False
    """Whether the softmax has a score beside those of the keys, with which their mean competes."""
    capped: bool = False
    """Whether the model squeezes its scores into a range, which is left out here."""
    command: str = ""
    """What measured it, where it is stored."""

    @property
    def tokens(self) -> int:
        """How many tokens the text has."""
        return len(self.labels)

    def shares(self) -> Float[ndarray, "layer source part"]:
        """Shares pooled over the heads of a layer; NaN where a layer's scores are constant."""
        power = self.power.sum(-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(power > 0, self.numerators.sum(-1).transpose(1, 2, 0) / power, np.nan).transpose(2, 0, 1)

    def position_share(self) -> Float[ndarray, "layer source"]:
        """What depends on position, alone or with content."""
        return self.shares()[..., 1:].sum(-1)


@dataclass(frozen=True)
class Unturned:
    """What a model loses when one layer does not turn a band. Columns: the bands, then all of them at once.

    values: (layer, column), by `measure`; NaN where a layer has no pairs in a band. losses: the change of the loss on
    the text, nats a token, of a causal model with its head, NaN of others; loss: what it was.
    """

    values: Float[ndarray, "layer column"]
    losses: Float[ndarray, "layer column"]
    loss: float
    measure: str
    tokens: int
    provenance: Provenance
