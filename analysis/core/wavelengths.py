"""Bands of wavelengths, in tokens, by which pairs of rotated dimensions are grouped: the same for every model."""

from itertools import pairwise

EDGES = (8, 32, 128, 512, 2048, 8192)
"""Wavelengths in tokens that part the bands."""
BANDS = (f"under {EDGES[0]:,}", *(f"{low:,} to {high:,}" for low, high in pairwise(EDGES)), f"{EDGES[-1]:,} and over")
"""Names of the bands, the shortest wavelengths first."""
