"""Defines a measure of geometry: the parts of a model that it needs, and the rows and cases that it gives."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypedDict

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from analysis.core.registry import Registry

INTERVAL = (2.5, 97.5)
"""Percentiles: of random draws for a baseline, of resamples for a value."""

NEEDS: Mapping[str, str] = {
    "word": "it has no table of words",
    "position": "it adds no table of positions to its words",
    "sum": "its words and positions are not added to one another as tables of one width",
    "states": "the store has no position basis of its layers (method mean; see python -m analysis measure means)",
    "heads": "its heads' projections have no position among their sources, or cannot be told apart here",
}
"""The parts of a model that a measure may need, each with the words for a model that lacks it."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One number of the table `geometry`; see the package's docstring for the names."""

    measure: str
    subject: str
    value: float
    layer: int | None = None
    head: int | None = None
    along: float | None = None
    low: float | None = None
    high: float | None = None
    baseline: float | None = None
    baseline_low: float | None = None
    baseline_high: float | None = None
    samples: int | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the table `neighbours`."""

    measure: str
    word: str
    position: int
    other_word: str
    distance: float
    margin: float
    other_position: int | None = None


@dataclass
class Measured:
    """The results of a measure: rows of the table `geometry`, and cases for the table `neighbours`."""

    rows: list[Row] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Sizes of random draws and searches. The defaults measure the embedded model in under 3 minutes on two cores."""

    seed: int = 0
    draws: int = 20
    """Random tables, subspaces or heads behind a baseline."""
    words: int = 300
    """Words searched, against the whole vocabulary, for the nearest word and nearest pairs; on a GPU all of them."""
    baseline_words: int = 100
    """The number of these words that are also searched with random vectors."""
    listed: int = 2_000
    """Changed words that are listed, the clearest first."""
    pairs: int = 10_000
    """Pairs of words, the nearest ones, that are searched for collisions at first."""
    work: int = 8_000_000_000
    """Pairs of words times pairs of positions that are searched at most, to leave no pair out."""
    rotations: int = 3
    """The number of random rotations of the position table; the nearest collisions are compared with theirs."""
    texts: int = 96
    """Made-up texts of random words for the decoders, a third held out."""
    device: str = "cpu"

    @staticmethod
    def debug() -> "Options":
        """Seconds, for tests."""
        return Options(draws=3, words=40, baseline_words=10, listed=50, pairs=500, rotations=2, texts=30)

    def rng(self) -> np.random.Generator:
        """The same draws for every measure, whichever are run."""
        return np.random.default_rng(self.seed)


class Spread(TypedDict):
    """The mean and the interval of random draws, as the baseline's columns of a row."""

    baseline: float
    baseline_low: float
    baseline_high: float


def spread(draws: Float[ndarray, "draw ..."] | Iterable[float]) -> Spread:
    """The baseline's three columns from draws of one number."""
    values = np.asarray(list(draws) if not isinstance(draws, ndarray) else draws, dtype=np.float64)
    low, high = np.percentile(values, INTERVAL)
    return Spread(baseline=float(values.mean()), baseline_low=float(low), baseline_high=float(high))


@dataclass(frozen=True, kw_only=True)
class Measure:
    """One file's measure, or close pair of them. gives: their names, as the store has them."""

    title: str
    gives: tuple[str, ...]
    needs: tuple[str, ...]
    run: Callable[..., Measured]
    """(Held, Options) -> Found"""


MEASURES: Registry[Measure] = Registry("measure of geometry")


def measure(
    name: str, *, title: str, gives: tuple[str, ...], needs: tuple[str, ...]
) -> Callable[[Callable[..., Measured]], Callable[..., Measured]]:
    """Registers a function (Held, Options) -> Found."""

    def register(run: Callable[..., Measured]) -> Callable[..., Measured]:
        MEASURES.add(name, Measure(title=title, gives=gives, needs=needs, run=run))
        return run

    return register
