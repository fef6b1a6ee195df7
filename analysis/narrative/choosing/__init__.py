"""Choosing an encoding: the known facts on each way to encode positions, each with its source.

`methods` lists the ways and the published rows about them; `facts` derives facts from their settings; `evidence` reads
the stored results; `table` puts the cells together. Nothing here weighs one fact against another.
"""

from analysis.figures.training.timing import measured_preset
from analysis.narrative.choosing.methods import METHODS, Method, Pair
from analysis.narrative.choosing.table import NEEDS, PARTS, Cell, MethodRow, lines

__all__ = [
    "METHODS",
    "NEEDS",
    "PARTS",
    "Cell",
    "Method",
    "MethodRow",
    "Pair",
    "lines",
    "measured_preset",
]
"""Importing this package imports no torch."""
