"""Results of interventions on one text. Numpy only, so that they can be shown where torch is not installed."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.measurements.terms.result import Provenance, TokenInfo


@dataclass(frozen=True)
class Predictions:
    """The predictions of a head at some places of a text, before and after the interventions.

    kind: "masked" (the token itself, masked alone: Salazar et al. 2020) or "next" (the token that follows).
    """

    kind: str
    places: Int[ndarray, " M"]
    """The number of the token that each prediction is of."""
    before: Float[ndarray, " M"]
    """Cross-entropy of the true token, in nats."""
    after: Float[ndarray, " M"]
    likeliest_before: tuple[str, ...]
    likeliest_after: tuple[str, ...]

    @property
    def losses(self) -> tuple[float, float]:
        """Mean cross-entropy before and after, in nats a token; its exponential is the (pseudo-)perplexity."""
        return float(self.before.mean()), float(self.after.mean())


@dataclass(frozen=True)
class InterventionResult:
    """One text through one model, as it is and under interventions. All numbers are of the model's own passes."""

    interventions: tuple[str, ...]
    """Their specs, in order."""
    descriptions: tuple[str, ...]
    """The same in words."""
    token_info: tuple[TokenInfo, ...]
    cosine: Float[ndarray, " token"]
    """The cosine of each token's output hidden states before and after."""
    kl: Float[ndarray, "layer head"]
    """Mean over queries of KL(pattern before || after), in nats; queries that see one key alone are left out."""
    layer: int
    """The layer of the patterns `before` and `after`."""
    before: Float[ndarray, "head query key"]
    after: Float[ndarray, "head query key"]
    predictions: Predictions | None
    """Predictions of the model's head; None for a model without a head that predicts tokens."""
    provenance: Provenance

    @property
    def tokens(self) -> list[str]:
        """The tokens, special ones included."""
        return [token.text for token in self.token_info]

    @property
    def layers(self) -> int:
        """Number of layers."""
        return self.kl.shape[0]

    @property
    def heads(self) -> int:
        """Number of attention heads."""
        return self.kl.shape[1]

    @property
    def words(self) -> str:
        """The interventions, as the part of a sentence."""
        return "; ".join(self.descriptions) or "nothing changed"


@dataclass(frozen=True)
class ImageInterventionResult(InterventionResult):
    """The same of an image. Its tokens are the special ones, then the patches that the model was shown."""

    grid: tuple[int, int]
    """Rows and columns of patches."""
    kept: Int[ndarray, " patch"]
    """The numbers of the patches that the model was shown, counted row by row."""
    masked: bool
    """True if patches were hidden, as in a masked autoencoder's training."""


@dataclass(frozen=True)
class PermutationTest:
    """A test that permuting a text's tokens, with their segments and mask, does no more than permute the output.

    order: output row i of the permuted text belongs to token order[i]. off, on: the largest
    |output of the permuted text - permuted output| of each token, positions off and on, in units of the output.
    """

    order: Int[ndarray, " token"]
    token_info: tuple[TokenInfo, ...]
    off: Float[ndarray, " token"]
    on: Float[ndarray, " token"]
    reach: float
    """Largest |output| with positions off: what the errors are to be compared with."""
    causal: bool
    """True if a query sees no key after it: then the order shows even without positions."""
    provenance: Provenance

    @property
    def holds(self) -> bool:
        """True if the errors with positions off are rounding: a thousand of the dtype's steps at the output's size."""
        dtype = np.dtype(self.provenance.dtype) if self.provenance.dtype != "bfloat16" else np.dtype("float16")
        return float(self.off.max()) <= 1000 * float(np.finfo(dtype).eps) * self.reach
