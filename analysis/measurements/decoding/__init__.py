"""Decodes hidden states: the position of a token, its word, and the order of two tokens."""
