"""Curves of runs: thinned for drawing, averaged over seeds, and as curves that statistics read."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from analysis.figures.training.trainings import Trained
from analysis.statistics import Curve

POINTS = 60
"""Evaluations drawn of one run; longer curves are thinned evenly, their ends kept."""


def thinned(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of at most `POINTS` steps, spread evenly over those that were evaluated."""
    steps = np.unique(rows.step)
    if len(steps) <= POINTS:
        return rows
    selected = steps[np.unique(np.linspace(0, len(steps) - 1, POINTS).round().astype(int))]
    return rows[rows.step.isin(selected)].reset_index(drop=True)


def means(rows: pd.DataFrame, *by: str) -> pd.DataFrame:
    """The mean over seeds at every step that all seeds of a variant have."""
    groups = rows.groupby([*by, "variant", "step"], sort=False)
    frame = groups.agg(tokens=("tokens", "first"), seconds=("seconds", "mean"), value=("value", "mean"))
    frame["seeds"] = groups.seed.nunique()
    frame = frame.reset_index()
    return frame[frame.seeds == frame.groupby("variant").seeds.transform("max")].reset_index(drop=True)


def curve(rows: pd.DataFrame, axis: str = "step") -> Curve | None:
    """A run's losses, or the means of several, as a `Curve`; None where the axis is missing or not increasing.

    Imported results may lack tokens and seconds, or record impossible ones.
    """
    if axis != "step" and not (np.diff(rows[axis], prepend=-1.0) > 0).all():
        return None
    return Curve(rows[axis].to_numpy(dtype=float), rows.value.to_numpy(dtype=float))


def curves_by_seed(trainings: Trained, axis: str) -> dict[str, dict[Hashable, Curve]]:
    """Validation loss of every run, by variant and seed."""
    rows = trainings.curves("validation_loss")
    return {
        str(name): {
            seed: result
            for seed, seed_rows in variant_rows.groupby("seed")
            if (result := curve(seed_rows, axis)) is not None
        }
        for name, variant_rows in rows.groupby("variant")
    }
