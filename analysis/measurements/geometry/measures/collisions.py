"""Sums that nearly meet: word a + position i ~ word b + position j, different words, different positions
(at one position the sums are as far apart as the words are).

The nearest pairs of words are searched over all pairs of positions. What is found bounds what is left: with Q the
projection on all but a few directions, |a + p - b - q| >= |Q(a - b)| - |Q(p - q)|. Of positions that lie near a few
directions Q leaves little, so few pairs of words can still come as near; these are searched as well, and then the
answer is exact over all pairs of words.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy import ndarray

from analysis.measurements.geometry.measure import Case, Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors, centred
from analysis.measurements.geometry.random import rotation

NEAREST = 20
"""Collisions that are kept, of different pairs of words."""
BLOCK = 256
SEARCHED = 16
"""Pairs of words in one step of the search, on a CPU."""
DIRECTIONS = (0, 8, 16, 32, 64, 128, 256)
"""Numbers of leading directions of the positions to take away; the search uses the one that leaves the fewest pairs."""
TRIED = 64
"""Words on which that number is chosen."""
SLACK = 1e-3
"""A margin for rounding in float32, as a share of the bound."""


@dataclass(frozen=True)
class WordPairs:
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


def nearest_pairs(words: Float[ndarray, "V D"], first: ndarray, count: int, device: str = "cpu") -> WordPairs:
    """The `count` nearest pairs of words, one of each among the rows `first`, the other any; found in float32."""
    table = torch.as_tensor(words, dtype=torch.float32, device=device)
    squares, best = (table**2).sum(1), np.empty((0, 3))
    for start in range(0, len(first), BLOCK):
        part = first[start : start + BLOCK]
        rows = torch.as_tensor(part, device=device)
        distances = squares[rows, None] + squares - 2 * table[rows] @ table.T
        distances[torch.arange(len(rows), device=device), rows] = torch.inf
        # A pair whose words are both among `first` is met twice.
        values, at = distances.flatten().topk(min(2 * count, distances.numel() - len(rows)), largest=False)
        row, b = np.divmod(at.cpu().numpy(), len(words))
        a = part[row]
        candidates = np.stack([np.minimum(a, b), np.maximum(a, b), values.cpu().numpy()], 1)
        best = np.concatenate([best, candidates])
        best = best[np.unique(best[:, :2], axis=0, return_index=True)[1]]
        best = best[np.argsort(best[:, 2], kind="stable")[:count]]
    a, b = best[:, 0].astype(int), best[:, 1].astype(int)
    distance = np.linalg.norm(words[a] - words[b], axis=1)
    order = np.argsort(distance, kind="stable")
    return WordPairs(a[order], b[order], distance[order])


def reachable(
    words: Float[ndarray, "V D"],
    positions: Float[ndarray, "P D"],
    first: ndarray,
    bound: float,
    limit: int,
    device: str = "cpu",
) -> WordPairs | None:
    """Every pair of words, one of each among `first`, whose sums may be nearer than `bound`; None for over `limit`."""
    middle = positions - positions.mean(0)
    axes = np.linalg.svd(middle, full_matrices=False)[2]
    tries = []
    for count in (count for count in DIRECTIONS if count < words.shape[1]):
        residuals = [table - (table @ axes[:count].T) @ axes[:count] for table in (words, middle)]
        radius = (bound + float(np.sqrt(np.where(np.isinf(gaps := _gaps(residuals[1])), 0, gaps).max()))) * (1 + SLACK)
        tries.append(
            (sum(len(b) for _, b in _within(residuals[0], first[:TRIED], radius, device)), count, radius, residuals[0])
        )
    fewest, _, radius, table = min(tries, key=lambda tried: tried[:2])
    if fewest * len(first) / min(TRIED, len(first)) > 2 * limit:
        return None
    candidates = [np.stack([np.minimum(a, b), np.maximum(a, b)], 1) for a, b in _within(table, first, radius, device)]
    unique_pairs = np.unique(np.concatenate(candidates), axis=0)
    if len(unique_pairs) > limit:
        return None
    distance = np.linalg.norm(words[unique_pairs[:, 0]] - words[unique_pairs[:, 1]], axis=1)
    order = np.argsort(distance, kind="stable")
    return WordPairs(unique_pairs[order, 0], unique_pairs[order, 1], distance[order])


def _within(
    table: Float[ndarray, "V D"], first: ndarray, radius: float, device: str
) -> Iterator[tuple[ndarray, ndarray]]:
    """Pairs of rows, one of each among `first`, that are no farther apart; found in float32, block by block."""
    rows = torch.as_tensor(table, dtype=torch.float32, device=device)
    squares = (rows**2).sum(1)
    for start in range(0, len(first), BLOCK):
        part = torch.as_tensor(first[start : start + BLOCK], device=device)
        distances = squares[part, None] + squares - 2 * rows[part] @ rows.T
        distances[torch.arange(len(part), device=device), part] = torch.inf
        a, b = (distances <= radius**2).nonzero(as_tuple=True)
        yield first[start : start + BLOCK][a.cpu().numpy()], b.cpu().numpy()


def nearest_sums(
    words: Float[ndarray, "V D"], positions: Float[ndarray, "P D"], pairs: WordPairs, count: int, device: str = "cpu"
) -> list[Collision]:
    """The `count` nearest collisions, each of another pair of words, nearest first.

    By |v|^2 + |p - q|^2 + 2 v . (p - q) with v = a - b, in float32; what is found is taken again in float64.
    """
    gaps = _gaps(positions)
    position_table, table, position_gaps = (
        torch.as_tensor(x, dtype=torch.float32, device=device) for x in (positions, words, gaps)
    )
    minimum = torch.empty(len(pairs.a), device=device)
    step = SEARCHED if device == "cpu" else 256 * SEARCHED
    for start in range(0, len(pairs.a), step):
        some = slice(start, start + step)
        v = table[pairs.a[some]] - table[pairs.b[some]]
        along = 2 * v @ position_table.T
        minimum[some] = (v**2).sum(1) + (position_gaps + along[:, :, None] - along[:, None]).flatten(1).amin(1)
    # Twice as many as wanted, lest rounding put one before another.
    chosen = np.argsort(minimum.cpu().numpy(), kind="stable")[: 2 * count]
    return sorted(_search(words, positions, gaps, int(pairs.a[n]), int(pairs.b[n])) for n in chosen)[:count]


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


def search_nearest_sums(
    words: Float[ndarray, "V D"], positions: Float[ndarray, "P D"], first: ndarray, pairs: WordPairs, options: Options
) -> tuple[list[Collision], int, bool]:
    """The nearest sums, how many pairs of words were searched, and whether no other pair can come as near."""
    items = nearest_sums(words, positions, pairs, NEAREST + 1, options.device)
    all_pairs = len(pairs.a) == _pairs(len(words), len(first))
    if all_pairs:
        return items, len(pairs.a), True
    limit = options.work // len(positions) ** 2
    remaining = reachable(words, positions, first, items[-1].distance, limit, options.device)
    if remaining is None:
        return items, len(pairs.a), False
    return nearest_sums(words, positions, remaining, NEAREST + 1, options.device), len(remaining.a), True


def _pairs(words: int, first: int) -> int:
    """Different pairs of words, one of each among the first ones."""
    return first * (words - first) + first * (first - 1) // 2


GIVES = ("collision_distance", "collision_ratio", "collision_complete")


@measure("collisions", title="Sums that nearly meet", gives=GIVES, needs=("sum",))
def collisions(vectors: ModelVectors, options: Options) -> Measured:
    """Measures collisions of a sample of words with any other word; on a GPU of the whole vocabulary."""
    word, position = vectors.sums()
    rng, result = options.rng(), Measured()
    exhaustive = options.device != "cpu" or options.words >= len(word)
    first = np.arange(len(word)) if exhaustive else np.sort(rng.choice(len(word), options.words, replace=False))
    pairs = nearest_pairs(word, first, options.pairs, options.device)
    nearest, count, complete = search_nearest_sums(word, position, first, pairs, options)
    rotated = [centred(position) @ rotation(word.shape[1], rng) for _ in range(options.rotations)]
    random_results = [search_nearest_sums(word, at, first, pairs, options) for at in rotated]
    random = np.asarray([[collision.distance for collision in each] for each, _, _ in random_results])
    result.rows.append(
        Row(
            measure="collision_complete",
            subject="nearest",
            value=float(complete and all(is_complete for _, _, is_complete in random_results)),
            samples=count,
        )
    )
    for number, collision in enumerate(nearest[:NEAREST]):
        result.rows.append(
            Row(
                measure="collision_distance",
                subject="nearest",
                along=number + 1,
                value=collision.distance,
                samples=count,
                **spread(random[:, number]),
            )
        )
    result.rows.append(
        Row(
            measure="collision_ratio",
            subject="nearest",
            value=nearest[0].distance / pairs.distance[0],
            samples=count,
            **spread(random[:, 0] / pairs.distance[0]),
        )
    )
    start = vectors.word_position_range[0]
    for this, after in pairwise(nearest):
        result.cases.append(
            Case(
                measure="collision",
                word=vectors.tokens[this.a],
                position=start + this.i,
                other_word=vectors.tokens[this.b],
                other_position=start + this.j,
                distance=this.distance,
                margin=after.distance - this.distance,
            )
        )
    return result
