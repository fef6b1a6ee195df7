"""Figures of two decompositions side by side, with their drawings."""
