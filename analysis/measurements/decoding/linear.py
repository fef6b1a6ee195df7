"""Regularised linear decoders whose penalty is chosen on training windows that the fit does not see; their accuracy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from analysis.statistics.resampling import INTERVAL, bootstrap

ALPHAS = (0.1, 1.0, 10.0, 100.0, 1_000.0, 10_000.0)
INVERSE_PENALTIES = (1e-3, 1e-2, 1e-1)
HELD_BACK = 5
"""One training example in so many, the last ones, chooses the penalty; then all are fitted."""


def ridge(x: Float[ndarray, "example dim"], y: Float[ndarray, "example ..."]) -> Pipeline:
    """Ridge regression on standardised inputs. Examples of one window must stand together."""
    return _chosen([lambda a=a: make_pipeline(StandardScaler(), Ridge(alpha=a)) for a in ALPHAS], x, y)


def logistic(x: Float[ndarray, "example dim"], y: ndarray) -> Pipeline:
    """Logistic regression without an intercept, so that swapping two tokens swaps the answer."""
    candidates = [
        lambda c=c: make_pipeline(
            StandardScaler(with_mean=False), LogisticRegression(C=c, fit_intercept=False, max_iter=300)
        )
        for c in INVERSE_PENALTIES
    ]
    return _chosen(candidates, x, y)


def _chosen(candidates: Sequence[Callable[[], Pipeline]], x: ndarray, y: ndarray) -> Pipeline:
    x = x.astype(np.float64)  # In float32 the normal equations lose too many digits for small penalties.
    cut = len(x) - len(x) // HELD_BACK
    scores = [make().fit(x[:cut], y[:cut]).score(x[cut:], y[cut:]) for make in candidates]
    return candidates[int(np.argmax(scores))]().fit(x, y)


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
