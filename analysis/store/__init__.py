"""The DuckDB store, a cache that is built from the files under data/ and can be deleted at any time."""
