"""Choosing an encoding: what is known of each way to tell a position, fact by fact, each with its source.

`methods` says which ways there are and which published rows are about them; `facts` what follows from their settings;
`evidence` what the store holds; `table` puts the cells together. Nothing here weighs one fact against another.
"""

from analysis.narrative.choosing.evidence import measured_preset
from analysis.narrative.choosing.methods import METHODS, Method, Pair
from analysis.narrative.choosing.table import NEEDS, PARTS, Cell, MethodRow, lines

__all__ = ["METHODS", "NEEDS", "PARTS", "Cell", "Method", "MethodRow", "Pair", "lines", "measured_preset"]
"""Importing this package imports no torch."""
