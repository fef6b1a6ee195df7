"""|cosine| against dimension: of random vectors, measured and by the exact formula, and of words and positions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.geometry.measure import INTERVAL, Measured, Options, Row, measure
from analysis.measurements.geometry.model_vectors import ModelVectors, centred
from analysis.measurements.geometry.random import cosine_shares, expected_abs_cosine

DIMENSIONS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024)
PAIRS = 4_000
"""Random pairs at each dimension."""
EDGES = np.linspace(-1, 1, 101)
WORDS = 2_000
"""Words of the sample whose cosines are taken, with every position and with one another."""
SUBSETS = 20
"""Random choices of so many coordinates: what a dimension below the whole stands for."""


@measure("random_cosines", title="Cosines of random vectors against dimension", gives=("abs_cosine_random",), needs=())
def random_cosines(vectors: ModelVectors, options: Options) -> Measured:
    """The mean measured, with its 95 % interval, beside the exact formula of `random.expected_abs_cosine`."""
    rng, result = options.rng(), Measured()
    for dim in DIMENSIONS:
        a, b = rng.standard_normal((2, PAIRS, dim))
        drawn = np.abs((_unit(a) * _unit(b)).sum(1))
        half = 1.96 * drawn.std(ddof=1) / PAIRS**0.5
        result.rows.append(
            Row(
                measure="abs_cosine_random",
                subject="random",
                along=dim,
                value=float(drawn.mean()),
                low=float(drawn.mean() - half),
                high=float(drawn.mean() + half),
                baseline=expected_abs_cosine(dim),
                samples=PAIRS,
            )
        )
    return result


@measure(
    "cosines",
    title="Cosines of words and positions against dimension",
    gives=("abs_cosine", "cosine_histogram"),
    needs=("sum",),
)
def cosines(vectors: ModelVectors, options: Options) -> Measured:
    """Measures cosines of a sample of words and all positions that a word can hold, raw and centred."""
    word, position = vectors.sums()
    result = Measured()
    for ending, words, positions in (("", word, position), ("_centred", centred(word), centred(position))):
        rng = options.rng()
        words = words[rng.choice(len(words), min(WORDS, len(words)), replace=False)]
        for name, a, b in (
            ("word_position", words, positions),
            ("word_word", words, words),
            ("position_position", positions, positions),
        ):
            result.rows.extend(_rows(f"{name}{ending}", a, b, rng))
    return result


def _rows(subject: str, a: ndarray, b: ndarray, rng: np.random.Generator) -> Iterator[Row]:
    dim = a.shape[1]
    for kept in (*(d for d in DIMENSIONS if d < dim), dim):
        chosen = [rng.choice(dim, kept, replace=False) for _ in range(SUBSETS if kept < dim else 1)]
        means = [float(np.abs(_pairs(_few(a, rng)[:, c], _few(b, rng)[:, c])).mean()) for c in chosen if kept < dim]
        interval: dict[str, Any] = {}
        if kept == dim:
            values = _pairs(a, b, same=a is b)
            means = [float(np.abs(values).mean())]
            random = cosine_shares(EDGES, dim)
            for left, right, count, share in zip(
                EDGES, EDGES[1:], np.histogram(values, EDGES)[0], random, strict=False
            ):
                yield Row(
                    measure="cosine_histogram",
                    subject=subject,
                    along=round(float(left + right) / 2, 3),
                    value=count / values.size,
                    baseline=float(share),
                    samples=values.size,
                )
            samples = values.size
        else:
            low, high = np.percentile(means, INTERVAL)
            interval = {"low": float(low), "high": float(high)}
            samples = SUBSETS
        yield Row(
            measure="abs_cosine",
            subject=subject,
            along=kept,
            value=float(np.mean(means)),
            **interval,
            baseline=expected_abs_cosine(kept),
            samples=samples,
        )


MOST_ROWS = 200


def _few(table: ndarray, rng: np.random.Generator) -> ndarray:
    """So many rows at most: means over pairs hardly move with more, the coordinates do."""
    return table[rng.choice(len(table), MOST_ROWS, replace=False)] if len(table) > MOST_ROWS else table


def _pairs(a: ndarray, b: ndarray, *, same: bool = False) -> Float[ndarray, " pair"]:
    """Cosines of every row with every other; each pair once where the tables are one."""
    values = np.clip(_unit(a) @ _unit(b).T, -1, 1)
    return values[np.triu_indices(len(a), 1)] if same else values.ravel()


def _unit(table: Float[ndarray, "row dim"]) -> Float[ndarray, "row dim"]:
    """Rows of length 1; a row of zeros stays, and counts as orthogonal to all."""
    length = np.linalg.norm(table, axis=1, keepdims=True)
    return table / np.where(length, length, 1)
