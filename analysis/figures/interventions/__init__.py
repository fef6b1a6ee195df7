"""Figures of interventions on a text: their data, and their drawings in `draw*.py`."""
