"""Figures of every layer of a model on one text: their data, and their drawings in `draw*.py`."""
