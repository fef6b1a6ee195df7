"""Figures of the terms of attention: their data, and their drawings in `draw*.py`."""
