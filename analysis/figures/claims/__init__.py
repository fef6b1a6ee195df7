"""Figures of the ledger of claims: their data, and their drawings in `draw*.py`."""
