"""Figures of the place of position in a model: the map by layer, one cell of it, and kernels of rotary bands."""
