"""Figures of published results of alternatives to adding positions: their data, and their drawings in `draw*.py`."""
