"""The bootstrap's draws: how often each unit that was drawn independently of the others counts in each resample."""

import numpy as np
from jaxtyping import Float
from numpy import ndarray

RESAMPLES = 2_000
INTERVAL = (2.5, 97.5)
"""Percentiles over resamples: a 95 % interval."""


def bootstrap(
    units: int, seed: int | np.random.Generator, resamples: int = RESAMPLES
) -> Float[ndarray, "resample unit"]:
    """Counts of as many units drawn with replacement, a row per resample; rows sum to the number of units."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(units, np.full(units, 1 / units), size=resamples).astype(float)
