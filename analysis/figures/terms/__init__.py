"""Figures of the terms of attention, with their drawings."""
