"""What the terms mean that stay on screen because no plainer word says the same. Imports no torch and no dashboard."""

import re
from functools import lru_cache

DEFINITIONS = {
    "nats": "The unit of a loss or of a KL divergence where the natural logarithm is used. A loss that is lower by "
    "0.1 nats makes the right token 1.105 times as likely.",
    "plateau": "The stretch at the beginning of a training in which a model has learned how frequent words are, but "
    "not what their neighbours say. Our models stay on it for a while and then leave it quickly.",
    "preset": "A fixed set of training settings with a name: model size, batch, number of steps, learning rate. Only "
    "runs of one preset are compared.",
    "seed": "The number from which a run draws its first weights and the order of its data. Runs that differ in the "
    "seed alone show how much of a difference is chance.",
    "margin": "The difference below which two results count as the same. The rules fix it before any run.",
    "paired": "Compared seed by seed: each difference is between two runs of one seed, and the interval is over these.",
    "bootstrap": "An interval found by drawing the same data again and again, with repetition, and looking at how much "
    "the result changes.",
    "Holm": "A correction for many comparisons at once: the more of them, the stronger each has to be.",
    "surgery": "A trained model is changed in one place, for example its position table, and measured before and "
    "after.",
    "frozen": "Of a table: not trained. Of the split of deeper layers: attention patterns and norms are held at the "
    "values that the model itself gives them, so that the rest is linear.",
    "untied": "Words and positions have matrices of their own for queries and keys, instead of sharing one pair.",
    "key-centred": "The score minus its mean over the keys of each query. Softmax ignores that mean, so only what is "
    "left changes "
    "where a head attends.",
    "pooled": "Taken over all heads or texts together, so that those with large scores weigh more; unlike a mean, in "
    "which each weighs the same.",
    "kernel": "The mean score at each distance between two tokens, whatever the words are.",
    "KL": "The Kullback-Leibler divergence: how far one distribution is from another. 0 where they are the same.",
    "perplexity": "The exponential of the loss: as if the model were choosing among so many equally likely tokens.",
    "Spearman": "A correlation of ranks, from -1 to 1: whether two lists order things alike.",
    "top-1": "How often the first guess is the right one.",
    "equivariance": "Permuting the words of a text only permutes the results, as in a model without positions.",
    "effective rank": "About how many directions a table uses: the exponential of the entropy of its squared singular "
    "values, divided by their sum.",
    "ridge regression": "Linear regression that keeps its coefficients small, so that it does not fit noise.",
    "nearest mean": "A decoder that answers with the class whose mean vector is closest.",
    "causal": "Of a model: each token attends to itself and to the tokens before it, never to later ones.",
    "share": "Of a term: its part of the variance of a head's key-centred scores. The shares of a head add up to 1; a "
    "share is negative where a term works against the others.",
    "effect": "Of a term: how much the attention pattern changes when the term is removed, as a mean KL divergence.",
}
"""By the word as it stands on screen. A plural is found too."""


def definitions_in(text: str) -> dict[str, str]:
    """The definitions of the terms that a text uses, in the order in which it does."""
    found = {match.group(1).lower(): match.start() for match in reversed(list(_terms().finditer(text)))}
    named = {word.lower(): word for word in DEFINITIONS}
    return {named[word]: DEFINITIONS[named[word]] for word in sorted(found, key=found.__getitem__)}


@lru_cache(maxsize=1)
def _terms() -> re.Pattern[str]:
    words = "|".join(re.escape(word) for word in DEFINITIONS)
    return re.compile(rf"(?<![\w-])({words})s?(?![\w-])", re.IGNORECASE)
