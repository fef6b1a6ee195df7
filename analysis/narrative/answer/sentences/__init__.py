"""One file per sentence of the answer."""
