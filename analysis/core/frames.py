"""Pandas frames: iterated by rows, and made from arrays."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd


def rows(frame: pd.DataFrame) -> Iterable[Any]:
    """The rows of a frame, each with its columns as attributes; what a column holds is known to no type checker."""
    return frame.itertuples()


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as mappings from column to value."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]


def cells(values: np.ndarray, column: str, /, **axes: Sequence[Any] | np.ndarray | None) -> pd.DataFrame:
    """An array in long form: one row per cell, one column per axis, and the values in `column`.

    axes: the labels along each axis; None for numbers from 0.
    """
    columns = {}
    for (name, labels), index in zip(axes.items(), np.indices(values.shape), strict=True):
        coordinates = labels if labels is None or isinstance(labels, np.ndarray) else np.asarray(labels, dtype=object)
        columns[name] = index.ravel() if coordinates is None else coordinates[index.ravel()]
    return pd.DataFrame({**columns, column: values.ravel()})


def stacked(parts: Mapping[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """Concatenated frames, with a new first column that names the part that each row comes from."""
    frame = pd.concat(parts.values(), ignore_index=True)
    frame.insert(0, column, np.repeat(np.asarray(list(parts), dtype=object), [len(part) for part in parts.values()]))
    return frame


def nested(values: np.ndarray) -> list[object]:
    """An array as nested lists of numbers, with None for NaN, which JSON does not know."""
    numbers = values.astype(object)
    numbers[np.isnan(values)] = None
    return numbers.tolist()
