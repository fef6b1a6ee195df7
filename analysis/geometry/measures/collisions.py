"""Sums that nearly meet: word a + position i ~ word b + position j, different words, different positions
(at one position the sums are as far apart as the words are).

Pairs of words are taken from the nearest on, and each is searched over all pairs of positions: exact for those pairs.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.geometry.base import Case, Found, Options, Row, measure, spread
from analysis.geometry.held import Held, centred
from analysis.geometry.random import rotation

NEAREST = 20
"""Collisions that are kept, of different pairs of words."""
BLOCK = 256
SEARCHED = 16
"""Pairs of words in one step of the search, on a CPU."""


@dataclass(frozen=True)
class Pairs:
    """Different pairs of words, nearest first."""

    a: Int[ndarray, " pair"]
    b: Int[ndarray, " pair"]
    distance: Float[ndarray, " pair"]


@dataclass(frozen=True, order=True)
class Collision:
    """word a + position i, word b + position j, and how far apart they are."""

    distance: float
    a: int
    i: int
    b: int
    j: int


def nearest_pairs(words: Float[ndarray, "V D"], first: ndarray, count: int, device: str = "cpu") -> Pairs:
    """The `count` nearest pairs of words, one of each among the rows `first`, the other any; found in float32."""
    table = torch.as_tensor(words, dtype=torch.float32, device=device)
    squares, best = (table**2).sum(1), np.empty((0, 3))
    for start in range(0, len(first), BLOCK):
        part = first[start : start + BLOCK]
        rows = torch.as_tensor(part, device=device)
        apart = squares[rows, None] + squares - 2 * table[rows] @ table.T
        apart[torch.arange(len(rows), device=device), rows] = torch.inf
        # A pair whose words are both among `first` is met twice.
        values, at = apart.flatten().topk(min(2 * count, apart.numel() - len(rows)), largest=False)
        row, b = np.divmod(at.cpu().numpy(), len(words))
        a = part[row]
        met = np.stack([np.minimum(a, b), np.maximum(a, b), values.cpu().numpy()], 1)
        best = np.concatenate([best, met])
        best = best[np.unique(best[:, :2], axis=0, return_index=True)[1]]
        best = best[np.argsort(best[:, 2], kind="stable")[:count]]
    a, b = best[:, 0].astype(int), best[:, 1].astype(int)
    distance = np.linalg.norm(words[a] - words[b], axis=1)
    order = np.argsort(distance, kind="stable")
    return Pairs(a[order], b[order], distance[order])


def nearest_sums(
    words: Float[ndarray, "V D"], positions: Float[ndarray, "P D"], pairs: Pairs, wanted: int, device: str = "cpu"
) -> list[Collision]:
    """The `wanted` nearest collisions, each of another pair of words, nearest first.

    By |v|^2 + |p - q|^2 + 2 v . (p - q) with v = a - b, in float32; what is found is taken again in float64.
    """
    gaps = _gaps(positions)
    places, table, apart = (torch.as_tensor(x, dtype=torch.float32, device=device) for x in (positions, words, gaps))
    least = torch.empty(len(pairs.a), device=device)
    step = SEARCHED if device == "cpu" else 256 * SEARCHED
    for start in range(0, len(pairs.a), step):
        some = slice(start, start + step)
        v = table[pairs.a[some]] - table[pairs.b[some]]
        along = 2 * v @ places.T
        least[some] = (v**2).sum(1) + (apart + along[:, :, None] - along[:, None]).flatten(1).amin(1)
    # Twice as many as wanted, lest rounding put one before another.
    chosen = np.argsort(least.cpu().numpy(), kind="stable")[: 2 * wanted]
    return sorted(_search(words, positions, gaps, int(pairs.a[n]), int(pairs.b[n])) for n in chosen)[:wanted]


def _search(words: ndarray, positions: ndarray, gaps: Float[ndarray, "P P"], a: int, b: int) -> Collision:
    """The nearest over all pairs of positions, of one pair of words."""
    v = words[a] - words[b]
    along = 2 * positions @ v
    i, j = np.unravel_index(int((gaps + along[:, None] - along).argmin()), gaps.shape)
    return Collision(float(np.linalg.norm(v + positions[i] - positions[j])), a, int(i), b, int(j))


def _gaps(positions: Float[ndarray, "P D"]) -> Float[ndarray, "P P"]:
    """Squared distances; infinite of a position to itself."""
    squares = (positions**2).sum(1)
    gaps = np.maximum(squares[:, None] + squares - 2 * positions @ positions.T, 0)
    np.fill_diagonal(gaps, np.inf)
    return gaps


@measure("collisions", title="Sums that nearly meet", gives=("collision_distance", "collision_ratio"), needs=("sum",))
def collisions(held: Held, options: Options) -> Found:
    """Of the nearest pairs of a sample of words with any; on a GPU of the whole vocabulary."""
    word, position = held.sums()
    rng, found = options.rng(), Found()
    every = options.device != "cpu" or options.words >= len(word)
    first = np.arange(len(word)) if every else np.sort(rng.choice(len(word), options.words, replace=False))
    pairs = nearest_pairs(word, first, options.pairs, options.device)
    nearest = nearest_sums(word, position, pairs, NEAREST + 1, options.device)
    turned = [centred(position) @ rotation(word.shape[1], rng) for _ in range(options.rotations)]
    by_chance = [nearest_sums(word, at, pairs, NEAREST, options.device) for at in turned]
    random = np.asarray([[collision.distance for collision in each] for each in by_chance])
    for number, collision in enumerate(nearest[:NEAREST]):
        found.rows.append(
            Row(
                measure="collision_distance",
                subject="nearest",
                along=number + 1,
                value=collision.distance,
                samples=len(pairs.a),
                **spread(random[:, number]),
            )
        )
    found.rows.append(
        Row(
            measure="collision_ratio",
            subject="nearest",
            value=nearest[0].distance / pairs.distance[0],
            samples=len(pairs.a),
            **spread(random[:, 0] / pairs.distance[0]),
        )
    )
    start = held.spoken[0]
    for this, after in pairwise(nearest):
        found.cases.append(
            Case(
                measure="collision",
                word=held.tokens[this.a],
                position=start + this.i,
                other_word=held.tokens[this.b],
                other_position=start + this.j,
                distance=this.distance,
                margin=after.distance - this.distance,
            )
        )
    return found
