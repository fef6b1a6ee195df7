"""The cosine of two sentence vectors as an exact sum, over sources and over pairs of tokens."""
