"""Figures of published results of alternatives to adding positions."""
