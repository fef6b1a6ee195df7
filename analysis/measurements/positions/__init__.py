"""Where position is in a model's attention: which part of every layer's scores depends on where tokens stand.

One unit for every architecture: the share of the variation of the key-centred scores that depends on content alone, on
distance or position alone, and on both together. A rotary score is a sum over pairs of dimensions, so that each band of
wavelengths has shares of its own, exactly; tables that are added, and biases of scores, are told apart by their terms.
"""
