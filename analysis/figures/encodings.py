"""Figures of position encodings: computed here and now, in numpy."""

from typing import Any

import numpy as np
import pandas as pd

from analysis.encodings import ENCODINGS
from analysis.figures.base import Figure, Params, figure


def _pair(params: Params) -> list[str]:
    """The encodings to show: the chosen one and, unless it is the same or "", the one beside it."""
    names = [str(params["encoding"]), str(params["other"])]
    return [name for name in dict.fromkeys(names) if name]


@figure("encoding_heat")
def heat(params: Params) -> Figure:
    """Each encoding's table: rows are positions (or distances), columns dimensions (or heads)."""
    length, dim = int(params["length"]), int(params["dim"])
    tables = {name: ENCODINGS[name].table(length, dim) for name in _pair(params)}

    def frame() -> pd.DataFrame:
        parts = []
        for name, table in tables.items():
            row, column = np.indices(table.shape)
            parts.append(
                pd.DataFrame({"encoding": name, "row": row.ravel(), "column": column.ravel(), "value": table.ravel()})
            )
        return pd.concat(parts, ignore_index=True)

    titles = [ENCODINGS[name].title for name in tables]
    return Figure(
        name="encoding_heat",
        title="The table itself",
        frame=frame,
        caption=f"{' and '.join(titles)}; {length} rows, {dim} columns; each on its own scale, symmetric about zero.",
        alt=f"Heat maps of {' and '.join(titles)}.",
        command="\n".join(f"python -m analysis encode {name} --length {length} --dim {dim} --csv" for name in tables),
        citation_keys=tuple(dict.fromkeys(ENCODINGS[name].key for name in tables)),
        content=_tables(tables),
    )


def _tables(tables: dict[str, np.ndarray]) -> dict[str, Any]:
    return {"tables": tables, "encodings": {name: ENCODINGS[name] for name in tables}}
