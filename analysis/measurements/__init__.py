"""Measurements of models, one package for each kind; each writes results files."""
