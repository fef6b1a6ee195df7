"""Figures of one stored run: their data, and their drawings in `draw*.py`."""
