"""Figures of what papers report when positions are not simply added: their data, and their drawings in `draw*.py`."""
