"""Maps position in a model's attention: the part of every layer's scores that depends on the places of tokens.

One unit serves every architecture: the share of the variation of the key-centred scores that depends on content alone,
on distance or position alone, and on both together. A rotary score is a sum over pairs of dimensions, so each band of
wavelengths has shares of its own, exactly; the terms tell apart tables that are added and biases of scores.
"""
