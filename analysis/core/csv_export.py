"""CSV as readers get it: numbers exact, and no text that a spreadsheet would run as a formula."""

import re

import numpy as np
import pandas as pd
from pandas.api import types

FORMULA_START = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that make a spreadsheet compute a cell that begins with them (OWASP, CSV injection)."""
FORMULA_INSIDE = re.compile(r'([;\t\n]"*)(?=[=+\-@＝＋－＠])')
"""Places at which a cell would begin with a formula in a spreadsheet that separates cells by semicolons.

Spreadsheets of many languages do so; they ignore quotes that open at commas."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def to_csv(frame: pd.DataFrame, *, index: bool = False) -> str:
    """The frame as CSV. An apostrophe precedes names and texts that would be formulas; numbers are as pandas has them.

    index: whether the row names are a column too.
    """
    safe = pd.concat([_safe_column(column) for _, column in frame.items()], axis=1) if len(frame.columns) else frame
    return safe.set_axis([_safe(name) for name in frame.columns], axis=1).to_csv(index=index)


def _safe_column(column: pd.Series) -> pd.Series:
    if types.is_numeric_dtype(column) or types.is_datetime64_any_dtype(column):
        return column
    if not isinstance(column.dtype, pd.StringDtype):
        return pd.Series([_safe(value) for value in column], index=column.index, dtype=object)
    # A large map names each of its tokens a thousand times.
    codes, texts = pd.factorize(column, use_na_sentinel=False)
    safe = np.array([_safe(text) for text in texts], dtype=object)
    return pd.Series(safe[codes], index=column.index, dtype=object)


def _safe(value: object) -> object:
    if not isinstance(value, str):
        return value
    is_formula = value.startswith(FORMULA_START) and not NUMBER.fullmatch(value)
    # A carriage return alone is not quoted by pandas, and would begin a row.
    lines = value.replace("\r\n", "\n").replace("\r", "\n")
    return ("'" if is_formula else "") + FORMULA_INSIDE.sub(r"\1'", lines)
