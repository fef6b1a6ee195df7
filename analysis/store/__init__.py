"""The DuckDB store: built from the files under data/, which are the truth, and thrown away at will."""
