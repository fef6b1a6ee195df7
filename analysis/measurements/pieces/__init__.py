"""Pieces of words against whole words: what each loses without positions.

`comparison`: the two compared, with the frequency of whole words matched. `measure`: of one model, over a text.
"""
