"""Sums that nearly meet: word a + position i ~ word b + position j, a and b different words.

Exact, by a bound on how near a pair of words can come, whatever the positions. Outside the leading directions of the
position table, two positions differ by at most a slack, so sums are at least |(a - b) outside| less that apart. Pairs
are searched over all pairs of positions in the order of the bound, until it passes the nearest sums found. Random
rotations of the position table are set against the same pairs and all others nearer than `NEAR` times the nearest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

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
SEARCHED = 16
"""Pairs of words in one step of the search, on a CPU."""
NEAR = 1.5
"""Over the distance of the nearest words: pairs up to here meet the random rotations."""
ROUNDING = 1e-4
"""What squared distances in float32 may be off by, over the squared lengths: pairs so close to a bound are searched."""


@dataclass(frozen=True)
class Pairs:
    """Pairs of words that may collide, each once."""

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


class Leading:
    """The leading directions of the positions, and what positions differ by outside them."""

    def __init__(self, words: Float[ndarray, "V D"], positions: Float[ndarray, "P D"]) -> None:
        middle = centred(positions)
        basis = axes(middle)[1][:, : min(DIRECTIONS, words.shape[1] // 2)]
        self.slack = 2 * float(np.linalg.norm(middle - middle @ basis @ basis.T, axis=1).max())
        self.inside = words @ basis
        self.outside = words - self.inside @ basis.T


def near_pairs(words: Float[ndarray, "V D"], first: ndarray, leading: Leading, wanted: int, device: str) -> Pairs:
    """Pairs, one of each among `first`, that may hold one of the `wanted` nearest collisions; and all that are
    nearer than `NEAR` times the distance at which those surely are.
    """
    room = ROUNDING * float((words**2).sum(1).max())
    # The nearest of every row: a pair may be met from both sides, so every second one is surely another.
    nearest = np.sort(np.concatenate([squares.amin(1).cpu().numpy() for _, squares in _blocks(words, first, device)]))
    least = (max(float(nearest[::2][:wanted][-1]), 0) + room) ** 0.5
    limit = (least + leading.slack) ** 2 + room
    found: list[tuple[ndarray, ndarray]] = []
    both = zip(_blocks(words, first, device), _blocks(leading.outside, first, device), strict=True)
    for (rows, squares), (_, outside) in both:
        near = (outside <= limit) | (squares <= (NEAR * least) ** 2)
        row, other = (x.cpu().numpy() for x in torch.nonzero(near, as_tuple=True))
        found.append((rows[row], other))
    a, b = (np.concatenate(part) for part in zip(*found, strict=True))
    code = np.unique(np.minimum(a, b) * len(words) + np.maximum(a, b))
    a, b = code // len(words), code % len(words)
    return Pairs(a, b, _apart(words, a, b))


def nearest_sums(
    words: Float[ndarray, "V D"],
    positions: Float[ndarray, "P D"],
    pairs: Pairs,
    leading: Leading,
    wanted: int,
    device: str = "cpu",
) -> list[Collision]:
    """The `wanted` nearest collisions of different pairs of words, nearest first, among the pairs given; float64."""
    squares = pairs.distance**2 - _apart(leading.inside, pairs.a, pairs.b) ** 2
    bound = np.sqrt(np.maximum(squares, 0)) - leading.slack
    gaps = _gaps(positions)
    found: list[Collision] = []
    order, step = np.argsort(bound, kind="stable"), SEARCHED if device == "cpu" else 256 * SEARCHED
    places, table = (torch.as_tensor(x, dtype=torch.float32, device=device) for x in (positions, words))
    apart = torch.as_tensor(gaps, dtype=torch.float32, device=device)
    room = ROUNDING * float((words**2).sum(1).max())
    for start in range(0, len(order), step):
        batch = order[start : start + step]
        limit = found[-1].distance if len(found) == wanted else np.inf
        if bound[batch[0]] > limit:
            break
        v = table[pairs.a[batch]] - table[pairs.b[batch]]
        along = 2 * v @ places.T
        least = (v**2).sum(1) + (apart + along[:, :, None] - along[:, None]).flatten(1).amin(1)
        for number in batch[(least <= limit**2 + room).cpu().numpy()]:
            found.append(_search(words, positions, gaps, int(pairs.a[number]), int(pairs.b[number])))
        found = sorted(found)[:wanted]
    return found


def _apart(table: Float[ndarray, "V D"], a: ndarray, b: ndarray) -> Float[ndarray, " pair"]:
    """Distances of rows, in pieces that fit."""
    pieces = [slice(start, start + CHUNK) for start in range(0, max(len(a), 1), CHUNK)]
    return np.concatenate([np.linalg.norm(table[a[s]] - table[b[s]], axis=1) for s in pieces])


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


@measure("collisions", title="Sums that nearly meet", gives=("collision_distance", "collision_ratio"), needs=("sum",))
def collisions(held: Held, options: Options) -> Found:
    """A sample of words against the whole vocabulary; on a GPU all of them."""
    word, position = held.sums()
    rng, found = options.rng(), Found()
    every = options.device != "cpu" or options.words >= len(word)
    first = np.arange(len(word)) if every else np.sort(rng.choice(len(word), options.words, replace=False))
    leading = Leading(word, position)
    pairs = near_pairs(word, first, leading, NEAREST + 1, options.device)
    nearest = nearest_sums(word, position, pairs, leading, NEAREST + 1, options.device)
    turned = [centred(position) @ rotation(word.shape[1], rng) for _ in range(options.rotations)]
    random = np.asarray(
        [
            [c.distance for c in nearest_sums(word, at, pairs, Leading(word, at), NEAREST, options.device)]
            for at in turned
        ]
    )
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
