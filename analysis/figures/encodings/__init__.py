"""Figures of position encodings: their data, and their drawings in `draw*.py`."""
