"""Figures of a sentence encoder after surgery."""
