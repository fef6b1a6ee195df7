"""Figures that follow position and words from layer to layer."""
