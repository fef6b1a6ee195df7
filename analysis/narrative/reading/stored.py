"""Queries to the store that several steps share."""

import pandas as pd

from analysis.core.errors import NoResults
from analysis.store import read


def decoded(model: str) -> pd.DataFrame:
    """Scores of decoders on the hidden states of a model: layer, target, decoder, measure, value, low, high, chance.

    A row per layer and measure of the model's newest run. model: a name, or a pattern for SQL's LIKE.
    Raises NoResults where nothing is stored of the model.
    """
    result = read.query("SELECT * FROM newest_decoding WHERE model LIKE ? ORDER BY created, layer", [model])
    if result.empty:
        raise NoResults(f"No decoding of {model} is stored yet. Run: python -m analysis measure decoding --texts TEXT")
    return result[result.run_id == result.run_id.iloc[-1]]


def best_reading(frame: pd.DataFrame, target: str, measure: str) -> pd.Series:
    """The row of `decoded` with the best score on the states that enter the first layer.

    Raises NoResults if there is none.
    """
    rows = frame[(frame.layer == 0) & (frame.target == target) & (frame.measure == measure)]
    if rows.empty:
        raise NoResults(
            f"No {measure} of {target} is stored yet at layer 0. Run: python -m analysis measure decoding --texts TEXT"
        )
    return rows.sort_values("value").iloc[-1]
