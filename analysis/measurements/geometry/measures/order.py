"""Decodes position and order from a position table: the two probes of Wang & Chen 2020, "What Do Position Embeddings
Learn?", section 4, in 5 folds. One is a regression from a row to its position, the other a logistic regression from the
difference of two rows to which of them comes first. Both are regularised: a table has hardly more rows than dimensions.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from sklearn.model_selection import KFold

from analysis.measurements.decoding.linear import DecoderAccuracy, hits, logistic, ridge
from analysis.measurements.geometry.measure import Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors

FOLDS = 5
PAIRS = 4
"""Ordered pairs drawn for every row, both of its fold (or both of the other folds, to learn from)."""
PERMUTED = 2
"""Tables whose rows are permuted, behind the baseline."""


def absolute(table: Float[ndarray, "P D"], seed: int) -> DecoderAccuracy:
    """Errors of the position, in positions, of every row while its fold is held out."""
    index, predicted = np.arange(len(table)), np.empty(len(table))
    for train, test in _folds(len(table), seed):
        predicted[test] = ridge(table[train], index[train].astype(float)).predict(table[test])
    away = float(np.abs(index - index.mean()).mean())
    return DecoderAccuracy(
        "position", "ridge", "mean_absolute_error", np.abs(predicted - index), np.ones(len(index)), index, away
    )


def relative(table: Float[ndarray, "P D"], seed: int) -> DecoderAccuracy:
    """Predicts the order of two held-out rows from their difference."""
    rng = np.random.default_rng(seed)
    right, window = [], []
    for train, test in _folds(len(table), seed):
        x, y, _ = _pairs(table, train, rng)
        test_x, test_y, first = _pairs(table, test, rng)
        right.append(logistic(x, y).predict(test_x) == test_y)
        window.append(first)
    return hits("order", "logistic", "accuracy", np.concatenate(right), np.concatenate(window), 0.5)


def rows(subject: str, table: Float[ndarray, "P D"], options: Options) -> Iterator[Row]:
    """Both probes of one table, each beside the same table with its rows permuted.

    Intervals: by resampling rows, with the fits as they are.
    """
    rng = options.rng()
    permuted = [table[rng.permutation(len(table))] for _ in range(min(PERMUTED, options.draws))]
    for name, probe in (("absolute_position", absolute), ("relative_order", relative)):
        reading = probe(table, options.seed)
        low, high = reading.interval(options.seed)
        yield Row(
            measure=name,
            subject=subject,
            value=reading.value,
            low=low,
            high=high,
            samples=len(reading.part),
            **spread([probe(other, options.seed).value for other in permuted]),
        )


@measure(
    "order",
    title="Position and order read from the position table",
    gives=("absolute_position", "relative_order"),
    needs=("position",),
)
def order(vectors: ModelVectors, options: Options) -> Measured:
    """Measures a model's own position table; `rows` does the same for an encoding's."""
    assert vectors.position is not None
    table = vectors.position[slice(*vectors.word_position_range)]
    if len(table) < 4 * FOLDS or not table.any():
        return Measured()
    return Measured(list(rows("position", table, options)))


def _folds(length: int, seed: int) -> list[tuple[ndarray, ndarray]]:
    """Shuffled, the training rows too: the penalty is chosen on the last of them."""
    rng = np.random.default_rng(seed)
    split = KFold(FOLDS, shuffle=True, random_state=seed).split(np.arange(length))
    return [(rng.permutation(train), test) for train, test in split]


def _pairs(
    table: Float[ndarray, "P D"], among: Int[ndarray, " row"], rng: np.random.Generator
) -> tuple[ndarray, ndarray, ndarray]:
    """Differences of rows, whether the first of them comes first, and which that is."""
    first = np.repeat(among, PAIRS)
    at = np.repeat(np.arange(len(among)), PAIRS)
    second = among[(at + rng.integers(1, len(among), len(at))) % len(among)]
    return table[first] - table[second], first < second, first
