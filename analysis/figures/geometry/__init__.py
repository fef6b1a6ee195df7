"""Figures of where word and position vectors lie, each beside what random vectors give."""
