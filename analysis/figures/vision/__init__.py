"""Figures of models of images: their data, and their drawings in `draw*.py`."""
