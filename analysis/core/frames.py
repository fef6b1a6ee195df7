"""Frames of pandas, read row by row."""

from collections.abc import Iterable
from typing import Any

import pandas as pd


def rows(frame: pd.DataFrame) -> Iterable[Any]:
    """The rows of a frame, each with its columns as attributes; what a column holds is known to no type checker."""
    return frame.itertuples()


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame as mappings from column to value."""
    return [{str(name): value for name, value in row.items()} for row in frame.to_dict("records")]
