"""One file a sentence of the answer."""
