"""Addend's analysis: encodings, the cross terms of attention, and the store they land in."""

__version__ = "0.1.0"
