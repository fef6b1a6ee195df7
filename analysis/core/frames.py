"""Frames of pandas: read row by row, and made of arrays."""

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
    """The cells of an array, a row each: a column an axis, in their order, and the values in `column`.

    axes: what stands along each; None for numbers from 0.
    """
    named = {}
    for (name, labels), index in zip(axes.items(), np.indices(values.shape), strict=True):
        along = labels if labels is None or isinstance(labels, np.ndarray) else np.asarray(labels, dtype=object)
        named[name] = index.ravel() if along is None else along[index.ravel()]
    return pd.DataFrame({**named, column: values.ravel()})


def stacked(parts: Mapping[str, pd.DataFrame], column: str) -> pd.DataFrame:
    """Frames one under another; the first column is new and names the part that a row is of."""
    frame = pd.concat(parts.values(), ignore_index=True)
    frame.insert(0, column, np.repeat(np.asarray(list(parts), dtype=object), [len(part) for part in parts.values()]))
    return frame
