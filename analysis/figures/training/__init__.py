"""Figures of our own pre-trainings."""
