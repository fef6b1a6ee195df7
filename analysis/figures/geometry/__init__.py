"""Figures of where word and position vectors lie: their data, and their drawings in `draw*.py`."""
