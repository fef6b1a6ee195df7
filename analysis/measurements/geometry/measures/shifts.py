"""Tests if one linear map takes the position table's row of every position to the row some positions further on."""

import numpy as np

from analysis.encodings.measures import FOLDS, shift_r2
from analysis.measurements.geometry.measure import Measured, Options, Row, measure, spread
from analysis.measurements.geometry.model_vectors import ModelVectors

SHIFTS = (1, 8)
"""The shifts, in positions."""


@measure("shifts", title="Shifts of the position table as a linear map", gives=("shift_r2",), needs=("position",))
def shifts(vectors: ModelVectors, options: Options) -> Measured:
    """R squared on held-out positions, beside that of the same rows in random orders; none of short or flat tables."""
    table, rng, result = vectors.tables()["position"], options.rng(), Measured()
    if not np.ptp(table, axis=0).any():
        return result
    for k in SHIFTS:
        if k > len(table) - 2 * FOLDS:
            continue
        shuffled = [shift_r2(rng.permutation(table), k=k) for _ in range(options.draws)]
        result.rows.append(
            Row(
                measure="shift_r2",
                subject="position",
                along=k,
                value=shift_r2(table, k=k),
                samples=len(table) - k,
                **spread(shuffled),
            )
        )
    return result
