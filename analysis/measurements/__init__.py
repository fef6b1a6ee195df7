"""What is measured of models, one package per kind of measurement; each writes results files."""
