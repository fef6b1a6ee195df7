"""Figures of our own GLUE scores."""
