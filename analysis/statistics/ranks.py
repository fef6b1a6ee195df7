"""Ranks of several variants with the uncertainty of their order, and groups of those that are not told apart.

Every pair is compared in both directions by a one-sided paired t-test, and the p-values of all of them are corrected
together by Holm's method (1979), which holds the probability of any false order at alpha. A variant's rank lies between
one more than the number of variants that are better than it, and the number of all variants less those that are worse.
All rank intervals hold together with probability 1 - alpha: Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks
with Applications to Mobility across Neighbourhoods and Academic Achievement across Countries", Review of Economic
Studies 91 (2024), 476-518. The groups of ties are the largest sets in which no two variants are told apart, as in the
letters of Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons", Journal of
Computational and Graphical Statistics 13 (2004), 456-466.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations

from analysis.statistics.multiple import holm
from analysis.statistics.paired import difference
from analysis.statistics.seeds import Runs, per_seed


@dataclass(frozen=True)
class Ranks:
    """Ranks of variants, the lowest mean first; rank 1 is the best."""

    order: tuple[str, ...]
    """Names by their means, the lowest first."""
    better: Mapping[str, frozenset[str]]
    """Name -> the variants whose values are significantly lower than its own."""
    ties: tuple[tuple[str, ...], ...]
    """The largest sets in which no two variants are told apart, each in the order of the means."""
    tests: int
    """One-sided tests that were corrected for."""

    def interval(self, name: str) -> tuple[int, int]:
        """The first and the last place that a variant may have."""
        worse = sum(name in better for better in self.better.values())
        return 1 + len(self.better[name]), len(self.order) - worse

    def tied(self, name: str) -> tuple[str, ...]:
        """The other variants that are not told apart from this one, in the order of the means."""
        return tuple(
            other
            for other in self.order
            if other != name and other not in self.better[name] and name not in self.better[other]
        )


def ranks(losses: Mapping[str, Runs], *, alpha: float = 0.05) -> Ranks:
    """Ranks by losses, where lower is better. losses: name -> the values by seed.

    A pair that cannot be tested, for want of seeds in common or of spread, is not told apart.
    """
    means = {name: _mean(runs) for name, runs in losses.items()}
    order = tuple(sorted(losses, key=lambda name: means[name]))
    pairs = list(permutations(order, 2))
    corrected = holm([_p_lower(losses[first], losses[second]) for first, second in pairs], alpha)
    better: dict[str, set[str]] = {name: set() for name in order}
    for (first, second), rejected in zip(pairs, corrected.rejected, strict=True):
        if rejected:
            better[second].add(first)
    frozen = {name: frozenset(names) for name, names in better.items()}
    return Ranks(order, frozen, _largest_ties(order, frozen), corrected.tests)


def _mean(runs: Runs) -> float:
    values = list(per_seed(runs).values.values())
    return math.fsum(values) / len(values) if values else math.inf


def _p_lower(first: Runs, second: Runs) -> float:
    """The p-value of a one-sided paired t-test that the first is lower; NaN where there is no test."""
    result = difference(first, second)
    return result.p / 2 if result.mean < 0 else 1 - result.p / 2


def _largest_ties(order: tuple[str, ...], better: Mapping[str, frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """The maximal cliques of the graph that joins variants which are not told apart (Bron and Kerbosch 1973)."""
    joined = {
        name: {other for other in order if other != name and other not in better[name] and name not in better[other]}
        for name in order
    }
    cliques: list[tuple[str, ...]] = []

    def extend(clique: set[str], candidates: set[str], excluded: set[str]) -> None:
        if not candidates and not excluded:
            cliques.append(tuple(name for name in order if name in clique))
            return
        pivot = max(candidates | excluded, key=lambda name: len(joined[name] & candidates))
        for name in [name for name in order if name in candidates - joined[pivot]]:
            extend(clique | {name}, candidates & joined[name], excluded & joined[name])
            candidates = candidates - {name}
            excluded = excluded | {name}

    extend(set(), set(order), set())
    places = {name: place for place, name in enumerate(order)}
    return tuple(sorted((clique for clique in cliques if clique), key=lambda clique: [places[name] for name in clique]))
