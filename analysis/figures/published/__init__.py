"""Figures of one published table: their data, and their drawings in `draw*.py`."""
