"""Figures of the guided reading."""
