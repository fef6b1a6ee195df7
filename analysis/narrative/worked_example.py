"""One sentence of the stored opening probe, followed in numbers through the method: a score, its terms, their measures.

Every function makes the sentence of one part of the page Method and data; it is empty where no probe is stored.
"""

from collections.abc import Callable
from functools import wraps

import numpy as np

from analysis.core import default_model
from analysis.core.formatting import fixed, join_names, percent, signed
from analysis.core.term_names import FOUR, SOURCES
from analysis.figures.reading.sum import summands
from analysis.figures.terms import measures
from analysis.links import VIEWS
from analysis.measurements.terms.result import MAX_CANCELLATION, Decomposition, Layers
from analysis.probes import opening_results
from analysis.probes.text_probe import LayersRequest, TermsRequest

HEAD = 0
"""The head of the example."""


def term_label(term: str) -> str:
    """The name of a term, which no line breaks."""
    return measures.term_label(term).replace(" ", "\N{NO-BREAK SPACE}")


def _of_stored(sentence: Callable[[Decomposition], str]) -> Callable[[], str]:
    """The sentence on the stored probe; empty where none is stored."""

    @wraps(sentence)
    def example() -> str:
        kept = opening_results.stored_result(TermsRequest.of(VIEWS["inside"].defaults()))
        return "" if kept is None else sentence(kept)

    return example


def strongest_pair(kept: Decomposition) -> tuple[int, int]:
    """The query and the key, two different words of the text, between which attention of the head is strongest."""
    words = [index for index, token in enumerate(kept.token_info) if not token.special]
    pattern = kept.pattern_of(HEAD)
    return max(((query, key) for query in words for key in words if query != key), key=lambda pair: pattern[pair])


@_of_stored
def entering(kept: Decomposition) -> str:
    """The lengths of the vectors that meet in one token of the text, and of their sum."""
    if not default_model.is_installed():
        return ""
    place, _ = strongest_pair(kept)
    parts = summands(kept.tokens[place], place)
    lengths = [fixed(float(np.linalg.norm(part))) for part in (*parts, parts.sum(0))]
    word, position, segment, total = lengths
    at_right_angles = fixed(float(np.sqrt((parts**2).sum())))
    return (
        f"“{kept.provenance.text}”, in {kept.provenance.model}: “{kept.tokens[place]}” stands at position {place}. Its "
        f"word has a length of {word}, its position one of {position}, its segment one of {segment}, and their sum one "
        f"of {total}. At right angles it would be the squares of the lengths that add up, to a sum with a length "
        f"of {at_right_angles}."
    )


@_of_stored
def score(kept: Decomposition) -> str:
    """A score of the first layer as a sum of its terms."""
    query, key = strongest_pair(kept)
    parts = {term: float(kept.terms_of(term, HEAD)[query, key]) for term in FOUR}
    total = float(kept.scores[HEAD, query, key])
    parts["segment and bias"] = total - sum(parts.values())
    written = [f"{term_label(term)} {signed(value)}" for term, value in parts.items()]
    asks, answers = kept.tokens[query], kept.tokens[key]
    return (
        f"In the same sentence, layer {kept.layer}, head {HEAD}: the score of "
        f"“{asks}” for “{answers}” is {fixed(total)}, the sum of {join_names(written)} (rounded)."
    )


def carried() -> str:
    """The parts of word and position in the states that leave the first and the last layer."""
    kept: Layers | None = opening_results.stored_result(LayersRequest.of(VIEWS["inside"].defaults()))
    if kept is None:
        return ""
    places = [SOURCES.index(name) for name in ("word", "position")]
    first, last = ([percent(float(layer[place])) for place in places] for layer in (kept.carried[0], kept.carried[-1]))
    return (
        f"In the same sentence, words make {first[0]} and positions {first[1]} of the states that leave layer 0; of "
        f"those that leave layer {len(kept.carried) - 1}, {last[0]} and {last[1]}."
    )


@_of_stored
def centred(kept: Decomposition) -> str:
    """The word-to-word term of that score, less its mean over the keys."""
    query, key = strongest_pair(kept)
    row = kept.terms_of(FOUR[0], HEAD)[query]
    value, mean = float(row[key]), float(row.mean())
    return (
        f"In the score above, {term_label(FOUR[0])} is {signed(value)}. Over the {len(row)} keys of "
        f"“{kept.tokens[query]}” it is {signed(mean)} on average, so softmax sees {signed(value - mean)}."
    )


@_of_stored
def share(kept: Decomposition) -> str:
    """The shares of the head's terms."""
    shares = {term: float(values[HEAD]) for term, values in kept.shares().items()}
    written = [f"{percent(shares[term])} for {term_label(term)}" for term in FOUR]
    rest = sum(shares.values()) - sum(shares[term] for term in FOUR)
    return f"In that head: {join_names(written)}; the terms of segment and bias have {percent(rest)} together."


@_of_stored
def cancelled(kept: Decomposition) -> str:
    """The cancellation of the head, and whether its shares are shown."""
    times = float(kept.cancellation[HEAD])
    shown = "are withheld" if times > MAX_CANCELLATION else "can be shown"
    return f"In that head the terms are together {times:.1f} times as large as the scores: its shares {shown}."


@_of_stored
def over_heads(kept: Decomposition) -> str:
    """The share of the word-to-word term over the heads of the layer, as a mean and pooled."""
    term, scores = (part - part.mean(-1, keepdims=True) for part in (kept.terms_of(FOUR[0]), kept.total()))
    mean = percent(float(kept.shares()[FOUR[0]].mean()))
    pooled = percent(float((term * scores).sum() / (scores**2).sum()))
    return (
        f"Over the {kept.heads} heads of that layer, {term_label(FOUR[0])} has a mean share of {mean}, and a pooled "
        f"share of {pooled}."
    )


@_of_stored
def effect(kept: Decomposition) -> str:
    """The largest effect among the head's terms, beside its share."""
    effects = {term: float(values[HEAD]) for term, values in kept.effects().items() if term in FOUR}
    written = [f"{value:.2f} nats without {term_label(term)}" for term, value in effects.items()]
    return f"In that head the pattern changes by {join_names(written)}."
