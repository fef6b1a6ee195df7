"""The end of an axis of differences, which a few far larger ones do not set: they would press all others together."""

from collections.abc import Iterable

FACTOR = 3
"""A difference is far if it is more than so many times as large as what two thirds of all do not exceed."""


def largest_near(differences: Iterable[float]) -> float:
    """The size of the largest difference that is not far from the others; of a third at most, far ones are left out.

    >>> largest_near([-0.3, 0.1, 0.2, 2.3])
    0.3
    >>> largest_near([-0.3, 0.1, 0.2, 0.8])
    0.8
    """
    sizes = sorted(abs(difference) for difference in differences if difference == difference)
    if not sizes:
        return float("nan")
    limit = FACTOR * sizes[len(sizes) - len(sizes) // 3 - 1]
    return max(size for size in sizes if size <= limit) if limit else sizes[-1]
