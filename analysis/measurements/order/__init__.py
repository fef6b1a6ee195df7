"""How order shows in a model, layer by layer: how far its queries attend, and what permuting the words does.

`locality`: the attention of [CLS], and of words, against distance. `equivariance`: how far the states of permuted
words are from the permuted states. `python -m analysis measure order` writes both over windows of a text.
"""
