"""Figures of our own pre-trainings: their data, and their drawings in `draw*.py`."""
