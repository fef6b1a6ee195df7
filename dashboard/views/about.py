"""about."""
