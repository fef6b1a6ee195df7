"""Measures order in a model, layer by layer: the distances of attention, and the effect of permuting the words.

`locality`: the attention of [CLS], and of words, against distance. `equivariance`: how far the states of permuted
words are from the permuted states. `python -m analysis measure order` writes both over windows of a text.
"""
