"""Figures of interventions: on one text, and over a corpus."""
