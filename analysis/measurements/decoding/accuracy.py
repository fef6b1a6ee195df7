"""The accuracy of a decoder on held-out windows, with its interval."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.statistics.resampling import INTERVAL, bootstrap


@dataclass(frozen=True)
class DecoderAccuracy:
    """One measure of one decoder: sum of `part` over sum of `whole`, example by example.

    So an accuracy has hits and ones; R2 has what of the squares is explained, and the squares.
    """

    target: str
    decoder: str
    measure: str
    part: Float[ndarray, " example"]
    whole: Float[ndarray, " example"]
    window: Int[ndarray, " example"]
    """The held-out window that an example stands in, numbered from 0."""
    chance: float
    """The value that a guess gets which ignores the hidden states."""

    @property
    def value(self) -> float:
        """The measure over all held-out examples."""
        return float(self.part.sum() / self.whole.sum())

    def interval(self, seed: int) -> tuple[float, float]:
        """95 % percentile bootstrap over held-out windows, with the trained decoder as it is."""
        count = int(self.window.max()) + 1
        part, whole = (np.bincount(self.window, x, count) for x in (self.part, self.whole))
        draws = bootstrap(count, seed)
        with np.errstate(invalid="ignore", divide="ignore"):
            low, high = np.nanpercentile((draws @ part) / (draws @ whole), INTERVAL)
        return float(low), float(high)


def hits(
    target: str, decoder: str, measure: str, right: ndarray, window: Int[ndarray, " example"], chance: float
) -> DecoderAccuracy:
    """An accuracy."""
    return DecoderAccuracy(target, decoder, measure, right.astype(float), np.ones(len(right)), window, chance)
