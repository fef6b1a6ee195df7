"""Sums that nearly meet: word a + position i ~ word b + position j, a and b different words.

Exact, by two bounds on how near a pair of words can come, whatever the positions. Two positions differ by at most the
diameter of the table, so sums are at least |a - b| less that apart. And they differ by at most a slack outside Q, the
leading directions of the positions, so sums are at least |(a - b) outside Q| less that apart. Pairs are searched over
all pairs of positions in the order of the second bound, until it passes the nearest sums found.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray
from torch import Tensor

from analysis.geometry.base import Case, Found, Options, Row, measure, spread
from analysis.geometry.held import Held, axes, centred
from analysis.geometry.random import rotation

NEAREST = 20
"""Collisions that are kept, of different pairs of words."""
DIRECTIONS = 64
"""Of the positions: as many as Q has, at most half the width."""
BLOCK = 1_024
CHUNK = 2**18
ROUNDING = 1e-4
"""What squared distances in float32 may be off by, over the squared lengths: pairs so close to a bound are searched."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of words that no bound on the distance alone rules out, each once."""

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


def near_pairs(
    words: Float[ndarray, "V D"], first: ndarray, diameter: float, wanted: int, device: str = "cpu"
) -> Pairs:
    """Pairs, one of each among `first`, that may hold one of the `wanted` nearest collisions."""
    least = np.full(wanted, np.inf)  # Any position added to both: so near are sums at least.
    found: list[tuple[ndarray, ndarray, ndarray]] = []
    room = ROUNDING * float((words**2).sum(1).max())
    for rows, squares in _blocks(words, first, device):
        small = squares.flatten().topk(min(2 * wanted, squares.numel()), largest=False).values.cpu().numpy()
        # Every pair may be met twice, so that half as many are surely different.
        least = np.sort(np.concatenate([least, small[::2]]))[:wanted]
        limit = (np.sqrt(max(least[-1], 0) + room) + diameter) ** 2 + room
        row, other = (x.cpu().numpy() for x in torch.nonzero(squares <= limit, as_tuple=True))
        found.append((rows[row], other, squares[torch.as_tensor(row), torch.as_tensor(other)].cpu().numpy()))
    a, b, squares = (np.concatenate(part) for part in zip(*found, strict=True))
    kept = squares <= (np.sqrt(max(least[-1], 0) + room) + diameter) ** 2 + room
    a, b = a[kept], b[kept]
    code = np.unique(np.minimum(a, b) * len(words) + np.maximum(a, b))
    a, b = code // len(words), code % len(words)
    distance = np.concatenate([np.linalg.norm(words[a[s]] - words[b[s]], axis=1) for s in _chunks(len(a))])
    return Pairs(a, b, distance)


def nearest_sums(
    words: Float[ndarray, "V D"], positions: Float[ndarray, "P D"], pairs: Pairs, wanted: int
) -> list[Collision]:
    """The `wanted` nearest collisions of different pairs of words, nearest first. Exact; float64."""
    middle = centred(positions)
    basis = axes(middle)[1][:, : min(DIRECTIONS, words.shape[1] // 2)]
    slack = 2 * float(np.linalg.norm(middle - middle @ basis @ basis.T, axis=1).max())
    inside = words @ basis
    squares = np.concatenate(
        [((inside[pairs.a[s]] - inside[pairs.b[s]]) ** 2).sum(1) for s in _chunks(len(pairs.a))]
    )
    bound = np.sqrt(np.maximum(pairs.distance**2 - squares, 0)) - slack
    gaps = _gaps(positions)
    found: list[Collision] = []
    for number in np.argsort(bound, kind="stable"):
        if len(found) == wanted and bound[number] > found[-1].distance:
            break
        found = sorted([*found, _search(words, positions, gaps, int(pairs.a[number]), int(pairs.b[number]))])[:wanted]
    return found


def _search(words: ndarray, positions: ndarray, gaps: Float[ndarray, "P P"], a: int, b: int) -> Collision:
    """The nearest over all pairs of positions, by |v|^2 + |p - q|^2 + 2 v . (p - q)."""
    v = words[a] - words[b]
    along = 2 * positions @ v
    i, j = np.unravel_index(int((gaps + along[:, None] - along).argmin()), gaps.shape)
    return Collision(float(np.linalg.norm(v + positions[i] - positions[j])), a, int(i), b, int(j))


def _gaps(positions: Float[ndarray, "P D"]) -> Float[ndarray, "P P"]:
    squares = (positions**2).sum(1)
    return np.maximum(squares[:, None] + squares - 2 * positions @ positions.T, 0)


def _blocks(table: ndarray, first: ndarray, device: str) -> Iterator[tuple[ndarray, Tensor]]:
    """Squared distances of some rows to all, block by block, in float32; infinite to themselves."""
    every = torch.as_tensor(table, dtype=torch.float32, device=device)
    squares = (every**2).sum(1)
    for start in range(0, len(first), BLOCK):
        rows = torch.as_tensor(first[start : start + BLOCK], device=device)
        apart = squares[rows, None] + squares - 2 * every[rows] @ every.T
        apart[torch.arange(len(rows), device=device), rows] = torch.inf
        yield first[start : start + BLOCK], apart


def _chunks(length: int) -> Iterator[slice]:
    return (slice(start, start + CHUNK) for start in range(0, max(length, 1), CHUNK))


@measure(
    "collisions", title="Sums that nearly meet", gives=("collision_distance", "collision_ratio"), needs=("sum",)
)
def collisions(held: Held, options: Options) -> Found:
    """Over the whole vocabulary where that is no more than `options.pairs`, else a sample of words against all."""
    word, position = held.sums()
    rng, found = options.rng(), Found()
    every = len(word) ** 2 <= options.pairs or options.device != "cpu"
    first = np.arange(len(word))
    if not every:
        first = np.sort(rng.choice(len(word), min(len(word), max(2, options.pairs // len(word))), replace=False))
    gaps = _gaps(position)
    pairs = near_pairs(word, first, float(np.sqrt(gaps.max())), NEAREST + 1, options.device)
    nearest = nearest_sums(word, position, pairs, NEAREST + 1)
    middle, width = position.mean(0), word.shape[1]
    turned = [(position - middle) @ rotation(width, rng) for _ in range(options.rotations)]
    random = np.asarray([[c.distance for c in nearest_sums(word, at, pairs, NEAREST)] for at in turned])
    least = float(pairs.distance.min())
    for number, collision in enumerate(nearest[:NEAREST]):
        found.rows.append(
            Row(
                measure="collision_distance",
                subject="nearest",
                along=number + 1,
                value=collision.distance,
                samples=len(first),
                **spread(random[:, number]),
            )
        )
    found.rows.append(
        Row(
            measure="collision_ratio",
            subject="nearest",
            value=nearest[0].distance / least,
            samples=len(first),
            **spread(random[:, 0] / least),
        )
    )
    start = held.spoken[0]
    for this, after in zip(nearest, nearest[1:], strict=False):
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
