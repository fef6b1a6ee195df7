"""Figures of one published table."""
