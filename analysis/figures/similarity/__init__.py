"""Figures of the similarity of two texts: its parts by source, and by pair of tokens."""
