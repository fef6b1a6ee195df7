"""Definitions of terms that stay on screen because no plainer word says the same. Imports no torch and no dashboard."""

import re
from collections.abc import Iterator

GROUPS = {
    "Models and how they are combined": {
        "BERT-A": "Our baseline, and BERT's own way: learned position embeddings are added to word embeddings, and "
        "one pair of matrices makes queries and keys from the sum. The A stands for absolute positions.",
        "BERT-A (own matrices)": "Like BERT-A, but positions have their own query and key "
        "matrices (BERT-A with a raised d in Ke et al., 2021). All four terms are kept: "
        "word-to-word, word-to-position, position-to-word and position-to-position.",
        "BERT-R": "BERT-A with a learned bias for the distance between query and key, added to every score.",
        "TUPE-A": "The encoder of Ke et al. (2021): positions are not added to words but have their own query and key "
        "matrices, and add a position-to-position score to the word-to-word score. [CLS] has scores of its own.",
        "TUPE-A ([CLS] tied)": "TUPE-A in which [CLS] is treated like every other position (tie-cls in Ke et al., "
        "2021).",
        "TUPE-R": "TUPE-A with a learned bias for the distance between query and key, added to every score.",
        "tied": "Sharing one matrix. Adding ties the matrices of words and positions.",
        "untied": "Words and positions have separate matrices for queries and keys, instead of sharing one pair.",
        "untying": "Giving words and positions separate matrices for queries and keys, instead of one pair that both "
        "use.",
        "words of 80 %": "Of an encoder: its words fill 80 % of the width, and the rest of their table is empty, as "
        "wide as the part that a concatenation gives to positions.",
        "words of 50 %": "Of an encoder: its words fill half of the width, and the rest of their table is empty, as "
        "wide as the part that a concatenation gives to positions.",
        "causal": "Each token attends to itself and to the tokens before it, never to later ones.",
        "rotary": "Positions rotate queries and keys, so that a score depends on places only through the signed "
        "distance between two tokens.",
        "frozen": "Of a table of embeddings: not trained. Of a rule: fixed before the trainings that it judges. Of "
        "the terms in deeper layers: attention patterns and norms are held at the values that the model itself gives "
        "them, so that the rest is linear.",
    },
    "Training and its statistics": {
        "nats": "The unit of a loss or of a KL divergence where the natural logarithm is used. A loss that is lower "
        "by 0.1 nats makes the right token 1.105 times as likely.",
        "plateau": "The stretch at the beginning of a training in which a model has learned how frequent words are, "
        "but not what their neighbours say about them. Our models stay on it for a while and then leave it quickly.",
        "preset": "A fixed set of training settings with a name: model size, batch, number of steps, learning rate. "
        "Only runs of one preset are compared.",
        "store": "The database of all stored results, which is built from the results files and answers every query.",
        "baseline": "What the others are compared with: in our trainings the encoder that adds positions to "
        "words once, at the input (BERT-A).",
        "checkpoint": "The weights of a model as they were saved at one step of its training.",
        "held-out": "Not used to train or to fit: what a model or a decoder is tested on.",
        "seed": "The number from which a run draws its first weights and the order of its data. Runs that differ in "
        "the seed alone show how much of a difference is chance.",
        "margin": "The difference below which two results count as the same. The rules fix it before any run.",
        "open": "Not decided: too few runs are stored, or the 95 % interval of a difference reaches across the margin, "
        "so that the runs cannot say which side is better, nor that both are the same.",
        "paired": "Compared seed by seed: each difference is between two runs of one seed, and the interval is over "
        "these.",
        "bootstrap": "An interval found by drawing the same data again and again, with repetition, and looking at how "
        "much the result changes.",
        "Holm": "A correction for many comparisons at once: the more of them, the stronger each has to be.",
        "perplexity": "The exponential of the loss: as if the model were choosing among so many equally likely tokens.",
    },
    "Terms of attention": {
        "term": "The part of an attention score that one part of the query and one part of the key give, such as "
        "word-to-position: the word of the query meets the position of the key.",
        "cross term": "The terms that compare a word with a position: word-to-position and position-to-word.",
        "key-centred": "Of scores: the mean over the keys of each query is subtracted. Softmax ignores that mean, so "
        "only what is left changes where a head attends.",
        "share": "Of a term: its part of the variance of a head's key-centred scores. The shares of a head add up to "
        "1; a share is negative where a term works against the others.",
        "effect": "Of a term: how much the attention pattern changes when the term is removed, as a mean KL "
        "divergence.",
        "pooled": "Taken over all heads or texts together, so that those with large scores weigh more; unlike a mean, "
        "in which each weighs the same.",
        "band": "Of a rotary model: pairs of dimensions that it rotates at similar wavelengths, counted in tokens. "
        "Bands of short wavelength tell neighbours apart; bands of long wavelength hardly change over a text.",
        "even attention": "Attention that gives every word of a text the same weight; distances of heads are compared "
        "with its mean distance.",
        "kernel": "The mean score at each distance between two tokens, whatever the words are.",
        "probe set": "The texts, written for Addend and open to all, over which the stored measurements are taken.",
        "KL": "The Kullback-Leibler divergence: how far one distribution is from another. 0 where they are the same.",
    },
    "What is measured of hidden states and tables": {
        "segment": "BERT reads a pair of sentences as segment A and segment B, and adds to each token a vector that "
        "says which of the two it belongs to.",
        "LayerNorm": "A step of a transformer's layer that scales each token's vector to a common mean and spread.",
        "squared length": "Of a vector: the sum of the squares of its numbers.",
        "rank correlation": "Spearman's correlation of ranks, from -1 to 1: whether two lists order things alike.",
        "surgery": "A trained model is changed in one place, for example its position table, and measured before and "
        "after.",
        "top-1": "How often the first guess is the right one.",
        "equivariance": "Permuting the words of a text only permutes the results, as in a model without positions.",
        "effective rank": "About how many directions a table uses: the exponential of the entropy of its squared "
        "singular values, divided by their sum.",
        "ridge regression": "Linear regression that keeps its coefficients small, so that it does not fit noise.",
        "nearest mean": "A decoder that answers with the class whose mean vector is closest.",
    },
}
"""Definitions by the term as it stands on screen, under what they are about. A plural is found too."""
DEFINITIONS = {term: definition for group in GROUPS.values() for term, definition in group.items()}
"""Every definition by its term."""
_alternatives = "|".join(re.escape(word) for word in sorted(DEFINITIONS, key=len, reverse=True))
USED = re.compile(rf"(?<![\w-])({_alternatives})s?(?![\w^-])", re.IGNORECASE)
"""Finds terms, the longest first: `TUPE-A ([CLS] tied)` is not found as TUPE-A, nor a cross term as a term."""


def matching_terms(sought: str) -> dict[str, list[str]]:
    """The terms of each group that have the sought words in them or in their definition, in alphabetical order.

    Groups without one are left out; all terms where nothing is sought.
    """
    words = sought.lower().split()
    found = {
        group: sorted(
            (term for term, said in definitions.items() if all(word in f"{term} {said}".lower() for word in words)),
            key=str.lower,
        )
        for group, definitions in GROUPS.items()
    }
    return {group: terms for group, terms in found.items() if terms}


def definitions_in(text: str) -> dict[str, str]:
    """The definitions of the terms that a text uses, in the order in which it does."""
    return {term: DEFINITIONS[term] for _, _, term in occurrences(text)}


ABOUT = {
    "share": ("term",),
    "effect": ("score", "term", "head"),
    "band": ("rotary", "wavelength"),
    "open": ("interval", "nats", "decide"),
}
"""Words that mean something else elsewhere -> words one of which stands in a text that means what the glossary says."""


def occurrences(text: str) -> Iterator[tuple[int, int, str]]:
    """Each use of a term in a text: (start, end, term as the glossary writes it)."""
    terms = {term.lower(): term for term in DEFINITIONS}
    everything = text.lower()
    for match in USED.finditer(text):
        term = terms[match.group(1).lower()]
        if term not in ABOUT or any(word in everything for word in ABOUT[term]):
            yield match.start(), match.end(), term
