"""Drawings of position encodings."""

import numpy as np

from analysis.figures import Figure
from dashboard.charts.base import Chart, Look, drawing
from dashboard.charts.heatmap import heatmap


@drawing("encoding_heat", columns=2)
def heat(figure: Figure, look: Look) -> list[Chart]:
    """One heat map an encoding, on its own symmetric scale."""
    maps = []
    for name, table in figure.content["tables"].items():
        encoding = figure.content["encodings"][name]
        reach = float(np.abs(table).max()) or 1.0
        maps.append(
            heatmap(
                table,
                [str(i) for i in range(table.shape[0])],
                [str(i) for i in range(table.shape[1])],
                domain=(-reach, reach),
                row_title=encoding.rows,
                column_title=encoding.columns,
                value_title="value",
                title=encoding.title,
                look=look,
            )
        )
    return maps
