"""Figures of every layer of a model on one text: one term by layer and head, and all terms against depth."""
