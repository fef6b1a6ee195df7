"""Figures of position encodings, computed from their tables."""
