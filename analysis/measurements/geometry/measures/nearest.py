"""Tests if adding a position turns one word into another: finds the nearest word to word + position at every position.

Brute force over the words searched, every position and the whole vocabulary. In squared distances less what they
share, word a + p is nearest to the b with the least |a - b|^2 + 2 p . (a - b), which is 0 for b = a.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray

from analysis.measurements.geometry.measure import Case, Measured, Options, Row, measure
from analysis.measurements.geometry.model_vectors import ModelVectors
from analysis.measurements.geometry.random import directions

CELLS = 2**19
"""The size of one block of (word, other word): a block stays in a processor's cache."""
Z = 1.96


@dataclass
class Nearest:
    """Distances of word + position to the nearest other word, for every word searched and every position."""

    words: Float[ndarray, "V D"]
    searched: ndarray
    positions: Float[ndarray, "P D"]
    margin: Float[ndarray, "word position"]
    """Distance to the nearest other word less that to the word itself; negative where the word is lost."""

    def other(self, row: int, position: int) -> tuple[int, float]:
        """The nearest other word of one sum, and the distance to it, in float64."""
        at = self.searched[row]
        distance = np.linalg.norm(self.words - (self.words[at] + self.positions[position]), axis=1)
        distance[at] = np.inf
        return int(distance.argmin()), float(distance.min())


def nearest_other(
    words: Float[ndarray, "V D"], searched: ndarray, positions: Float[ndarray, "P D"], device: str = "cpu"
) -> Nearest:
    """The distances to the nearest other words, found by brute force in float32."""
    table = torch.as_tensor(words, dtype=torch.float32, device=device)
    position_table = torch.as_tensor(positions, dtype=torch.float32, device=device)
    squares, columns = (table**2).sum(1), 2 * position_table @ table.T
    minimum = torch.empty(len(searched), len(positions), device=device)
    step = max(1, (64 if device != "cpu" else 1) * CELLS // len(table))
    for start in range(0, len(searched), step):
        rows = torch.as_tensor(searched[start : start + step], device=device)
        distances = squares[rows, None] + squares - 2 * table[rows] @ table.T
        distances[torch.arange(len(rows), device=device), rows] = torch.inf
        for index, column in enumerate(columns):
            minimum[start : start + step, index] = (distances - column).amin(1) + column[rows]
    norms = np.linalg.norm(positions, axis=1)
    return Nearest(
        words, searched, positions, np.sqrt(np.maximum(minimum.cpu().numpy().astype(np.float64) + norms**2, 0)) - norms
    )


@measure(
    "nearest",
    title="The nearest word after a position is added",
    gives=("word_kept", "word_kept_everywhere"),
    needs=("sum",),
)
def nearest(vectors: ModelVectors, options: Options) -> Measured:
    """Raw: among the words as they stand. Centred: positions less their mean, since what all share moves every word."""
    assert vectors.position is not None
    word, usable_positions = vectors.sums()
    rng, result = options.rng(), Measured()
    exhaustive = options.device != "cpu" or options.words >= len(word)
    searched = np.arange(len(word)) if exhaustive else np.sort(rng.choice(len(word), options.words, replace=False))
    baseline_words = (
        searched if len(searched) <= options.baseline_words else rng.choice(searched, options.baseline_words, False)
    )
    for subject, positions in (("raw", vectors.position), ("centred", vectors.position - usable_positions.mean(0))):
        lengths = np.linalg.norm(positions, axis=1)
        real = nearest_other(word, searched, positions, options.device)
        random = nearest_other(word, baseline_words, directions(lengths, word.shape[1], rng), options.device)
        retained, by_chance = np.greater(real.margin, 0), np.greater(random.margin, 0)
        for index in range(len(positions)):
            result.rows.append(_row("word_kept", subject, retained[:, index], by_chance[:, index], exhaustive, index))
        inside = slice(*vectors.word_position_range)
        result.rows.append(
            _row(
                "word_kept_everywhere",
                subject,
                np.asarray(retained[:, inside].all(1)),
                np.asarray(by_chance[:, inside].all(1)),
                exhaustive,
            )
        )
        if subject == "raw":
            result.cases.extend(_cases(vectors, real, options))
    return result


def _row(
    name: str, subject: str, retained: ndarray, by_chance: ndarray, exhaustive: bool, position: int | None = None
) -> Row:
    low, high = (None, None) if exhaustive else _wilson(retained)
    base_low, base_high = _wilson(by_chance)
    return Row(
        measure=name,
        subject=subject,
        along=position,
        value=float(retained.mean()),
        low=low,
        high=high,
        baseline=float(by_chance.mean()),
        baseline_low=base_low,
        baseline_high=base_high,
        samples=len(retained),
    )


def _wilson(hits: ndarray) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927): all of a sample is not all there are."""
    n, share = len(hits), float(hits.mean())
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * (share * (1 - share) / n + Z**2 / (4 * n**2)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _cases(vectors: ModelVectors, real: Nearest, options: Options) -> list[Case]:
    """The nearest change of every word searched, and every change, the clearest first; words' positions only."""
    start, stop = vectors.word_position_range
    margin = real.margin[:, start:stop]

    def case(name: str, row: int, position: int) -> Case:
        other_word, distance = real.other(row, position)
        return Case(
            measure=name,
            word=vectors.tokens[int(real.searched[row])],
            position=position,
            other_word=vectors.tokens[other_word],
            distance=distance,
            margin=distance - float(np.linalg.norm(real.positions[position])),
        )

    closest = [case("nearest_word", row, start + int(position)) for row, position in enumerate(margin.argmin(1))]
    changed = np.argwhere(margin < 0)
    order = np.argsort(margin[margin < 0], kind="stable")[: options.listed]
    return closest + [case("changed_word", int(row), start + int(position)) for row, position in changed[order]]
