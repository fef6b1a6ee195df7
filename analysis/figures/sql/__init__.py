"""The figure of a reader's own query."""
