"""What is measured of models, one package a kind of measurement; each writes results files."""
