"""Reading where a token stands, alone and against another, from its hidden state.

The absolute and the relative probe of Wang & Chen 2020, "What Do Position Embeddings Learn?", section 4, which they
put to position tables; here to hidden states, in which a word stands beside the position.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline

from analysis.measurements.decoding.linear import DecoderAccuracy, hits, logistic, ridge

NEAR = 3
"""Slots away from the true one that still count as near."""
PAIRS = 64
"""Ordered pairs of tokens drawn from every window."""

DECODERS: dict[str, Callable[[int], Any]] = {
    "nearest": lambda slots: NearestCentroid(),
    "whitened": lambda slots: make_pipeline(PCA(whiten=True, random_state=0), NearestCentroid()),
    "discriminant": lambda slots: LinearDiscriminantAnalysis(
        solver="lsqr", shrinkage="auto", priors=np.full(slots, 1 / slots)
    ),
}
"""Makes, from the number of slots, the classifier that predicts a token's slot; all slots are equally frequent."""

States = Float[ndarray, "window slot dim"]


def read_position(train: States, test: States) -> Iterator[DecoderAccuracy]:
    """Slots, numbered from 0 over those given: by ridge regression, by the nearest mean vector of a slot (as it is, and
    after whitening), and by linear discriminants.

    Whitening and discriminants differ in what they divide by: the covariance of all states, or that within a slot.
    """
    slots = test.shape[1]
    position_index = np.arange(slots, dtype=float)
    x, y = _flat(train), np.tile(position_index, len(train))
    window, truth = np.repeat(np.arange(len(test)), slots), np.tile(position_index, len(test))
    predicted = ridge(x, y).predict(_flat(test))
    spread = (truth - y.mean()) ** 2
    yield DecoderAccuracy("position", "ridge", "r2", spread - (truth - predicted) ** 2, spread, window, 0.0)
    away = float(np.abs(position_index - position_index.mean()).mean())
    yield DecoderAccuracy(
        "position", "ridge", "mean_absolute_error", np.abs(truth - predicted), np.ones(len(predicted)), window, away
    )
    for name, decoder in DECODERS.items():
        off = np.abs(decoder(slots).fit(x, y.astype(int)).predict(_flat(test)) - truth)
        yield hits("position", name, "exact", off == 0, window, 1 / slots)
        yield hits("position", name, f"within_{NEAR}", off <= NEAR, window, _chance_within(slots, NEAR))


def read_order(train: States, test: States, seed: int) -> Iterator[DecoderAccuracy]:
    """Predicts which of a window's two tokens comes first, by logistic regression on the difference of their states."""
    rng = np.random.default_rng(seed)
    (x, y, _), (test_x, test_y, window) = _pairs(train, rng), _pairs(test, rng)
    yield hits("order", "logistic", "accuracy", logistic(x, y).predict(test_x) == test_y, window, 0.5)


def _pairs(states: States, rng: np.random.Generator) -> tuple[ndarray, ndarray, ndarray]:
    """Differences (example, dim), whether the first of the two comes first, and the window."""
    windows, slots, _ = states.shape
    window = np.repeat(np.arange(windows), PAIRS)
    first = rng.integers(slots, size=len(window))
    second = (first + rng.integers(1, slots, size=len(window))) % slots
    return states[window, first] - states[window, second], first < second, window


def _chance_within(slots: int, near: int) -> float:
    """The share of uniform guesses that are at most `near` slots from the true one."""
    position_index = np.arange(slots)
    return float((np.abs(position_index[:, None] - position_index) <= near).mean())


def _flat(states: States) -> Float[ndarray, "example dim"]:
    return states.reshape(-1, states.shape[-1])
