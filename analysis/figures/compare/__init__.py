"""Figures of two decompositions side by side: their data, and their drawings in `draw*.py`."""
