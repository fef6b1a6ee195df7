"""Figures of a sentence encoder after surgery: their data, and their drawings in `draw*.py`."""
