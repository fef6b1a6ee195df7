"""Reading which word a token is from its hidden state, among the words that the training windows hold often enough."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from sklearn.neighbors import NearestCentroid

from analysis.measurements.decoding.linear import DecoderAccuracy, hits, ridge

OFTEN = 5
"""Occurrences in the training windows that a word needs to be a candidate."""


def read_word(
    train: Float[ndarray, "window slot dim"],
    train_words: Int[ndarray, "window slot"],
    test: Float[ndarray, "window slot dim"],
    test_words: Int[ndarray, "window slot"],
    embeddings: Float[ndarray, "word width"],
) -> Iterator[DecoderAccuracy]:
    """Top-1 among the candidates, for held-out tokens that are one: by the nearest mean vector of a word, and by
    ridge regression to the model's own word embeddings and the nearest of those by the cosine.

    embeddings: the model's table, a row per token id. Chance: always the word that training windows hold most often.
    """
    words, counts = np.unique(train_words, return_counts=True)
    known, counts = words[counts >= OFTEN], counts[counts >= OFTEN]
    x, y = train.reshape(-1, train.shape[-1]), train_words.ravel()
    is_known = np.isin(y, known)
    x, y = x[is_known], y[is_known]
    window = np.repeat(np.arange(len(test)), test.shape[1])
    is_candidate = np.isin(test_words.ravel(), known)
    test_x, truth = test.reshape(-1, test.shape[-1])[is_candidate], test_words.ravel()[is_candidate]
    window = window[is_candidate]
    chance = float((truth == known[counts.argmax()]).mean())
    nearest = NearestCentroid().fit(x, y).predict(test_x)
    yield hits("word", "nearest", "top1", nearest == truth, window, chance)
    # The embeddings have a direction in common, which would make every cosine large: it is taken out.
    mean_embedding = embeddings[known].mean(0)
    predicted = ridge(x, embeddings[y] - mean_embedding).predict(test_x)
    candidates = embeddings[known] - mean_embedding
    candidates = candidates / np.linalg.norm(candidates, axis=1, keepdims=True)
    yield hits("word", "ridge", "top1", known[(predicted @ candidates.T).argmax(1)] == truth, window, chance)
