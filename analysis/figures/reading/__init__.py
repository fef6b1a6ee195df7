"""Figures of the guided reading: their data, and their drawings in `draw*.py`."""
