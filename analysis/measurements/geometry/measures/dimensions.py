"""Tests if words stay out of the dimensions that positions use: their energies, dimension by dimension."""

import numpy as np
from scipy import stats

from analysis.measurements.geometry.measure import INTERVAL, Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors, centred

PERMUTATIONS = 1_000


@measure(
    "dimensions",
    title="Words' energy against positions', by dimension",
    gives=("dimension_correlation",),
    needs=("sum",),
)
def dimensions(vectors: ModelVectors, options: Options) -> Measured:
    """Spearman's correlation over dimensions; interval by resampling dimensions, baseline by permuting them."""
    word, position = vectors.sums()
    result = Measured()
    for subject, a, b in (("raw", word, position), ("centred", centred(word), centred(position))):
        rng = options.rng()
        x, y = (a**2).sum(0), (b**2).sum(0)
        if np.ptp(x) == 0 or np.ptp(y) == 0:
            continue
        resampled = [_correlation(x[at], y[at]) for at in rng.integers(len(x), size=(PERMUTATIONS, len(x)))]
        low, high = np.nanpercentile(resampled, INTERVAL)
        result.rows.append(
            Row(
                measure="dimension_correlation",
                subject=subject,
                value=_correlation(x, y),
                low=float(low),
                high=float(high),
                samples=len(x),
                **spread([_correlation(x, rng.permutation(y)) for _ in range(PERMUTATIONS)]),
            )
        )
    return result


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    """Pearson's of the ranks; NaN where one is constant."""
    x, y = stats.rankdata(x), stats.rankdata(y)
    x, y = x - x.mean(), y - y.mean()
    size = np.sqrt((x @ x) * (y @ y))
    return float(x @ y / size) if size else np.nan
