"""Baselines for GLUE without an encoder: word overlap, TF-IDF and mean word vectors, each under a linear model.

They see the rows that our fine-tunings see and never the order of the words, so an encoder that scores below them
cannot be said to have been measured by the task.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float
from numpy import ndarray
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from analysis.ablation.glue.examples import Split, TaskData
from analysis.ablation.glue.metrics import score
from analysis.ablation.glue.tasks import TASKS, GlueTask

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

WORD = re.compile(r"\w+")
Features = Callable[[Split], ndarray | csr_matrix]
Embed = Callable[[Sequence[str]], Float[ndarray, "text width"]]
"""Texts -> the mean of the word vectors of each."""


def baselines(data: TaskData, embed: Embed | None = None) -> dict[str, dict[str, dict[str, float]]]:
    """Baseline -> dev set -> metric -> value, a fraction. word_overlap takes pairs; bag_of_vectors needs `embed`."""
    extractors: dict[str, Features] = {"tf_idf": _tf_idf(data.train)}
    if data.train.pairs is not None:
        extractors["word_overlap"] = _overlap
    if embed is not None:
        extractors["bag_of_vectors"] = _word_vectors(embed)
    scores = {}
    for name, features in extractors.items():
        task = TASKS[data.task]
        model = _linear_model(task, sparse=name == "tf_idf")
        model.fit(features(data.train), data.train.labels)
        scores[name] = {
            dev: score(TASKS[dev], split.labels, np.asarray(model.predict(features(split))))
            for dev, split in data.dev.items()
        }
    return scores


def _linear_model(task: GlueTask, *, sparse: bool) -> Pipeline:
    """Ridge for a regression, else logistic regression, at scikit-learn's own strengths, on features of one scale."""
    scaler = MaxAbsScaler() if sparse else StandardScaler()
    return make_pipeline(scaler, Ridge() if task.regression else LogisticRegression(max_iter=2_000))


def _tf_idf(train: Split) -> Features:
    """Words and pairs of words by TF-IDF; of two texts, how they differ and what they have in common."""
    vectorizer = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit([*train.texts, *(train.pairs or ())])

    def features(split: Split) -> csr_matrix:
        first = csr_matrix(vectorizer.transform(split.texts))
        if split.pairs is None:
            return first
        second = csr_matrix(vectorizer.transform(split.pairs))
        return csr_matrix(hstack([abs(first - second), first.multiply(second)]))

    return features


def _overlap(split: Split) -> Float[ndarray, "row feature"]:
    """The overlap of two sets of words: their intersection over their union and over each one's size, and the ratio of
    their sizes.
    """
    rows = []
    for text_a, text_b in zip(split.texts, split.pairs or (), strict=True):
        first, second = (set(WORD.findall(text.lower())) for text in (text_a, text_b))
        shared = len(first & second)
        sizes = [max(1, len(words)) for words in (first | second, first, second)]
        rows.append([shared / size for size in sizes] + [min(sizes[1:]) / max(sizes[1:])])
    return np.asarray(rows)


def _word_vectors(embed: Embed) -> Features:
    """The mean word vector; of two texts both, their difference and their product."""

    def features(split: Split) -> Float[ndarray, "row feature"]:
        first = embed(split.texts)
        if split.pairs is None:
            return first
        second = embed(split.pairs)
        return np.hstack([first, second, np.abs(first - second), first * second])

    return features


def mean_word_vectors(tokenizer: PreTrainedTokenizerBase, table: Float[ndarray, "word width"]) -> Embed:
    """Means of the rows of a model's word table over the tokens of each text, special tokens left out."""

    def embed(texts: Sequence[str]) -> Float[ndarray, "text width"]:
        ids: list[list[int]] = tokenizer(list(texts), add_special_tokens=False)["input_ids"]
        return np.stack([table[row].mean(0) if row else np.zeros(table.shape[1]) for row in ids])

    return embed
