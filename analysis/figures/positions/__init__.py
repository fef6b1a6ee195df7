"""Figures of the position map: their data, and their drawings in `draw*.py`."""
