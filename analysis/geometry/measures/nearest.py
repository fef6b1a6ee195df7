"""Whether adding a position turns one word into another: the nearest word to word + position, for every position.

Brute force over the words searched, every position and the whole vocabulary. In squared distances less what they
share, word a + p is nearest to the b with the least |a - b|^2 + 2 p . (a - b), which is 0 for b = a.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from torch import Tensor

from analysis.geometry.base import Case, Found, Options, Row, measure
from analysis.geometry.held import Held, centred
from analysis.geometry.random import directions

CELLS = 2**21
"""Of one block of (word, other word): what stays in a processor's cache."""
Z = 1.96


@dataclass
class Nearest:
    """Of each word searched and each position: the nearest other word, and how far it and the word itself are."""

    other: ndarray
    """(word, position): rows of the vocabulary."""
    distance: Float[ndarray, "word position"]
    """To the other word."""
    own: Float[ndarray, " position"]
    """To the word itself: the length of the position."""

    @property
    def margin(self) -> Float[ndarray, "word position"]:
        """Distance to the other word less that to itself; negative where the word is lost."""
        return self.distance - self.own


def nearest_other(
    words: Float[ndarray, "V D"], searched: ndarray, positions: Float[ndarray, "P D"], device: str = "cpu"
) -> Nearest:
    """By brute force, in float32; the distances of the pairs found are taken again in float64."""
    kind = torch.float32
    table = torch.as_tensor(words, dtype=kind, device=device)
    places = torch.as_tensor(positions, dtype=kind, device=device)
    squares, along = (table**2).sum(1), 2 * table @ places.T
    columns = along.T.contiguous()
    other = np.empty((len(searched), len(positions)), dtype=np.int64)
    step = max(1, (64 if device != "cpu" else 1) * CELLS // len(table))
    for start in range(0, len(searched), step):
        rows = torch.as_tensor(searched[start : start + step], device=device)
        apart: Tensor = squares[None] - 2 * table[rows] @ table.T  # less |a|^2, and 2 p . a, which the row shares
        apart[torch.arange(len(rows), device=device), rows] = torch.inf
        for place in range(len(positions)):
            other[start : start + step, place] = (apart - columns[place]).argmin(1).cpu().numpy()
    distance = np.empty(other.shape)
    for place, vector in enumerate(positions):
        distance[:, place] = np.linalg.norm(words[searched] + vector - words[other[:, place]], axis=1)
    return Nearest(other, distance, np.linalg.norm(positions, axis=1))


@measure(
    "nearest",
    title="The nearest word after a position is added",
    gives=("word_kept", "word_kept_everywhere"),
    needs=("sum",),
)
def nearest(held: Held, options: Options) -> Found:
    """Raw: among the words as they stand. Centred: positions less their mean, since what all share moves every word."""
    assert held.position is not None
    word, spoken = held.sums()
    rng, found = options.rng(), Found()
    every = options.device != "cpu" or options.words >= len(word)
    searched = np.arange(len(word)) if every else np.sort(rng.choice(len(word), options.words, replace=False))
    few = searched if len(searched) <= options.baseline_words else rng.choice(searched, options.baseline_words, False)
    for subject, positions in (("raw", held.position), ("centred", held.position - spoken.mean(0))):
        lengths = np.linalg.norm(positions, axis=1)
        real = nearest_other(word, searched, positions, options.device)
        random = nearest_other(word, few, directions(lengths, word.shape[1], rng), options.device)
        kept, by_chance = real.margin > 0, random.margin > 0
        for place in range(len(positions)):
            found.rows.append(_row("word_kept", subject, kept[:, place], by_chance[:, place], every, place))
        inside = slice(*held.spoken)
        found.rows.append(
            _row("word_kept_everywhere", subject, kept[:, inside].all(1), by_chance[:, inside].all(1), every)
        )
        if subject == "raw":
            found.cases.extend(_cases(held, searched, real, options))
    return found


def _row(
    name: str, subject: str, kept: ndarray, by_chance: ndarray, every: bool, place: int | None = None
) -> Row:
    low, high = (None, None) if every else _wilson(kept)
    base_low, base_high = _wilson(by_chance)
    return Row(
        measure=name,
        subject=subject,
        along=place,
        value=float(kept.mean()),
        low=low,
        high=high,
        baseline=float(by_chance.mean()),
        baseline_low=base_low,
        baseline_high=base_high,
        samples=len(kept),
    )


def _wilson(hits: ndarray) -> tuple[float, float]:
    """95 % interval of a share (Wilson 1927): all of a sample is not all there are."""
    n, share = len(hits), float(hits.mean())
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * (share * (1 - share) / n + Z**2 / (4 * n**2)) ** 0.5
    return max(0.0, middle - half), min(1.0, middle + half)


def _cases(held: Held, searched: ndarray, real: Nearest, options: Options) -> list[Case]:
    """The nearest change of every word searched, and every change there is, the clearest first; words' positions only."""
    start, stop = held.spoken
    margin = real.margin[:, start:stop]

    def case(name: str, row: int, place: int) -> Case:
        return Case(
            measure=name,
            word=held.tokens[searched[row]],
            position=start + place,
            other_word=held.tokens[real.other[row, start + place]],
            distance=float(real.distance[row, start + place]),
            margin=float(margin[row, place]),
        )

    closest = [case("nearest_word", row, int(place)) for row, place in enumerate(margin.argmin(1))]
    changed = np.argwhere(margin < 0)
    order = np.argsort(margin[margin < 0], kind="stable")[: options.listed]
    return closest + [case("changed_word", int(row), int(place)) for row, place in changed[order]]
