"""Divides the singular directions of W_Q W_K^T of every head between word and position.

A head scores a pair of tokens by x W_Q W_K^T y. Its singular value decomposition writes that as a sum over directions,
s_i (x . a_i)(y . b_i). The use that a source makes of a direction is the mean square of that summand over independent
pairs of its inputs; the mean of the keys is taken off, since softmax ignores what all keys share.
"""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.geometry.measure import Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import LayerProjections, ModelVectors
from analysis.measurements.geometry.random import subspace

HELD = 0.9
"""The least share of a source's use that the removed directions hold."""

Moments = Float[ndarray, "dim dim"]


def directions(
    query: Float[ndarray, "dim K"], key: Float[ndarray, "dim K"]
) -> tuple[Float[ndarray, "dim K"], Float[ndarray, " K"], Float[ndarray, "dim K"]]:
    """The singular value decomposition of query @ key.T, by those of its thin factors."""
    q, r = np.linalg.qr(query)
    k, t = np.linalg.qr(key)
    u, s, vt = np.linalg.svd(r @ t.T)
    return q @ u, s, k @ vt.T


def moments(inputs: Float[ndarray, "token dim"]) -> tuple[Moments, Moments]:
    """Second moments of queries about the origin, and of keys about their mean."""
    keys = inputs - inputs.mean(0)
    return inputs.T @ inputs / len(inputs), keys.T @ keys / len(keys)


class Use:
    """The use that one source makes of a head's singular directions."""

    def __init__(self, a: ndarray, s: Float[ndarray, " K"], b: ndarray, moment: tuple[Moments, Moments]) -> None:
        self.s, self.query, self.key = s, a.T @ moment[0] @ a, b.T @ moment[1] @ b

    def shares(self) -> Float[ndarray, " K"]:
        """Each direction's mean square, over their sum."""
        squares = self.s**2 * np.diag(self.query) * np.diag(self.key)
        return squares / squares.sum()

    def power(self, kept: ndarray) -> float:
        """Mean square of the scores that the kept directions give together."""
        s = np.where(kept, self.s, 0)
        return float(np.einsum("i,ij,j,ij->", s, self.query, s, self.key))

    def lost(self, removed: ndarray) -> float:
        """Share of the mean square that goes with some directions."""
        return 1 - self.power(~removed) / self.power(np.ones_like(removed))


def most_used(shares: Float[ndarray, " K"]) -> ndarray:
    """The fewest directions that hold so much."""
    order = np.argsort(shares)[::-1]
    chosen = np.zeros(len(shares), dtype=bool)
    chosen[order[: int(np.searchsorted(shares[order].cumsum(), HELD) + 1)]] = True
    return chosen


def measured(word: Use, position: Use) -> dict[str, float]:
    """Overlap (sum of the smaller of two shares: 1 the same, 0 no direction in common) and the two losses."""
    w, p = word.shares(), position.shares()
    return {
        "overlap": float(np.minimum(w, p).sum()),
        "word_without_position": word.lost(most_used(p)),
        "position_without_word": position.lost(most_used(w)),
    }


@measure(
    "heads",
    title="How heads divide their directions between word and position",
    gives=("head_overlap", "head_direction", "head_loss"),
    needs=("heads",),
)
def heads(vectors: ModelVectors, options: Options) -> Measured:
    """Every head of every layer whose inputs are known."""
    return Measured([row for layer in vectors.heads for row in _layer(layer, options)])


def _layer(layer: LayerProjections, options: Options) -> Iterator[Row]:
    rng = options.rng()
    word, position = moments(layer.word), moments(layer.position)
    dim, width = layer.query.shape[1:]
    # The same random directions for every head of a layer: heads differ in their singular values.
    random = [(subspace(dim, width, rng), subspace(dim, width, rng)) for _ in range(options.draws)]
    for head, (query, key) in enumerate(zip(layer.query, layer.key, strict=True)):
        a, s, b = directions(query, key)
        uses = Use(a, s, b, word), Use(a, s, b, position)
        if not uses[0].power(s > 0) or not uses[1].power(s > 0):
            continue
        observed = measured(*uses)
        random_values = [measured(Use(u, s, v, word), Use(u, s, v, position)) for u, v in random]
        at = {"layer": layer.layer, "head": head, "samples": len(layer.word)}
        for name, value in observed.items():
            overlap = name == "overlap"
            yield Row(
                measure="head_overlap" if overlap else "head_loss",
                subject="word_position" if overlap else name,
                value=value,
                **at,
                **spread([d[name] for d in random_values]),
            )
        w, p = uses[0].shares(), uses[1].shares()
        for number in range(width):
            energy = w[number] + p[number]
            if energy > 0:
                yield Row(
                    measure="head_direction",
                    subject="position",
                    along=number + 1,
                    value=float(p[number] / energy),
                    **at,
                )
