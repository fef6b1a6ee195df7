"""The sources of a hidden state, and the terms that pairs of them give a score."""

from collections.abc import Sequence

SOURCES = ("word", "position", "segment", "bias")
"""bias: what no source owns (a norm's beta, the biases of projections, constants that are added)."""
TERMS = tuple(f"{a}_to_{b}" for a in SOURCES for b in SOURCES)
"""The sixteen terms, query first."""
FOUR = ("word_to_word", "word_to_position", "position_to_word", "position_to_position")
"""The terms that the question is about."""
SCORE_BIAS = "score_bias"
"""A term beyond the sixteen: what a model adds to its scores, a function of the positions of query and key."""
DISENTANGLED = ("content_to_distance", "distance_to_content")
"""DeBERTa's c2p and p2c: the query's content against an embedding of the distance, and the distance's against the key's
content."""
ADDED_TERMS = (SCORE_BIAS, *DISENTANGLED)
"""The terms that are no products of two sources of the hidden states."""
MEAN_SOURCES = ("context", "position", "residual", "mean")
"""The sources of method `mean`; what no source owns (a norm's beta, the biases of projections) goes to the last."""


def terms_among(sources: Sequence[str]) -> tuple[str, ...]:
    """The terms that pairs of these sources give, query first."""
    return tuple(f"{a}_to_{b}" for a in sources for b in sources)


def term_pair(term: str, sources: Sequence[str] = SOURCES) -> tuple[int, int]:
    """Indices of a term's query and key source."""
    query, key = term.split("_to_")
    return sources.index(query), sources.index(key)
