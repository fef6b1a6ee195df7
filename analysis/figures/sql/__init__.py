"""Figures of a reader's own query: their data, and their drawings in `draw*.py`."""
