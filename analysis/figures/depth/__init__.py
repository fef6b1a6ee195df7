"""Figures that follow position and words from layer to layer: their data, and their drawings in `draw*.py`."""
