"""Figures of our own GLUE scores: their data, and their drawings in `draw*.py`."""
