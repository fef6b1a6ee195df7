"""A real model operated on: what a sentence encoder loses when its positions, or their terms, are changed.

`operations` lists what is done, `similarity` measures a model's own task (sentence similarity) under each, with no
training, and `concatenated` runs the separated sum as the concatenation that it is.
"""
