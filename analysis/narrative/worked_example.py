"""One sentence of the stored opening probe, followed in numbers through the method: a score, its terms, their measures.

Every function puts the numbers into the formula of one part of the page Method and data; None where no probe is stored.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from typing import NamedTuple

import numpy as np

from analysis.core import default_model
from analysis.core.formatting import join_names, percent
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


class Example(NamedTuple):
    """The numbers of one part: a sentence, a formula in TeX, and a sentence after it."""

    text: str
    formula: str = ""
    after: str = ""


def _sum(parts: Mapping[str, str], total: tuple[str, str]) -> str:
    """A column of summands with a line over their sum, in TeX: names and numbers."""
    rows = [f"{name} & {value}" for name, value in (*parts.items(), total)]
    return r"\begin{array}{lr} " + r" \\ ".join([*rows[:-1], rf"\hline {rows[-1]}"]) + r" \end{array}"


def _tex_term(term: str) -> str:
    """The name of a term in TeX."""
    return r" \to ".join(rf"\text{{{source}}}" for source in term.split("_to_"))


def _tex_percent(share: float) -> str:
    return rf"{100 * share:.0f}\,\%"


def _of_stored(example: Callable[[Decomposition], Example | None]) -> Callable[[], Example | None]:
    """The example of the stored probe; None where none is stored."""

    @wraps(example)
    def of_stored() -> Example | None:
        kept = opening_results.stored_result(TermsRequest.of(VIEWS["inside"].defaults()))
        return None if kept is None else example(kept)

    return of_stored


def strongest_pair(kept: Decomposition) -> tuple[int, int]:
    """The query and the key, two different words of the text, between which attention of the head is strongest."""
    words = [index for index, token in enumerate(kept.token_info) if not token.special]
    pattern = kept.pattern_of(HEAD)
    return max(((query, key) for query in words for key in words if query != key), key=lambda pair: pattern[pair])


@_of_stored
def entering(kept: Decomposition) -> Example | None:
    """The squared lengths of the vectors that meet in one token of the text, and of their sum."""
    if not default_model.is_installed():
        return None
    place, _ = strongest_pair(kept)
    parts = summands(kept.tokens[place], place)
    squares = [float(square) for square in (parts**2).sum(-1)]
    total = float((parts.sum(0) ** 2).sum())
    rows = {
        rf"\text{{{name}}}": f"{square**0.5:.3f}^2 = {square:.3f}"
        for name, square in zip(SOURCES, squares, strict=False)
    }
    rows[r"\text{products}"] = f"{total - sum(squares):.3f}"
    return Example(
        f"“{kept.provenance.text}”, in {kept.provenance.model}: “{kept.tokens[place]}” stands at position {place}. The "
        "squares of its vectors' lengths, and twice the products of the vectors with one another:",
        _sum(rows, (r"\text{sum}", f"{total**0.5:.3f}^2 = {total:.3f}")),
        f"At right angles the sum would have a length of {sum(squares) ** 0.5:.3f}.",
    )


@_of_stored
def score(kept: Decomposition) -> Example:
    """A score of the first layer as a sum of its terms."""
    query, key = strongest_pair(kept)
    parts = {_tex_term(term): float(kept.terms_of(term, HEAD)[query, key]) for term in FOUR}
    total = float(kept.scores[HEAD, query, key])
    parts[r"\text{segment and bias}"] = total - sum(parts.values())
    return Example(
        f"In the same sentence, layer {kept.layer}, head {HEAD}, “{kept.tokens[query]}” for “{kept.tokens[key]}”:",
        _sum({name: f"{value:.2f}" for name, value in parts.items()}, (r"\text{score}", f"{total:.2f}")),
    )


def carried() -> Example | None:
    """The parts of word and position in the states that leave the first and the last layer."""
    kept: Layers | None = opening_results.stored_result(LayersRequest.of(VIEWS["inside"].defaults()))
    if kept is None:
        return None
    places = [SOURCES.index(name) for name in ("word", "position")]
    first, last = ([percent(float(layer[place])) for place in places] for layer in (kept.carried[0], kept.carried[-1]))
    return Example(
        f"In the same sentence, words make {first[0]} and positions {first[1]} of the states that leave layer 0; of "
        f"those that leave layer {len(kept.carried) - 1}, {last[0]} and {last[1]}."
    )


@_of_stored
def centred(kept: Decomposition) -> Example:
    """The word-to-word term of that score, less its mean over the keys."""
    query, key = strongest_pair(kept)
    row = kept.terms_of(FOUR[0], HEAD)[query]
    value, mean = float(row[key]), float(row.mean())
    return Example(
        f"The term {term_label(FOUR[0])} of the score above, less its mean over the {len(row)} keys of "
        f"“{kept.tokens[query]}”:",
        f"{value:.2f} - ({mean:.2f}) = {value - mean:.2f}",
    )


@_of_stored
def share(kept: Decomposition) -> Example:
    """The share of the head's word-to-word term from its two sums, and the other shares."""
    term, scores = (part - part.mean(-1, keepdims=True) for part in (kept.terms_of(FOUR[0], HEAD), kept.total()[HEAD]))
    shares = {name: float(values[HEAD]) for name, values in kept.shares().items()}
    written = [f"{percent(shares[name])} for {term_label(name)}" for name in FOUR[1:]]
    rest = sum(shares.values()) - sum(shares[name] for name in FOUR)
    above, below = float((term * scores).sum()), float((scores**2).sum())
    return Example(
        f"In that head, for {term_label(FOUR[0])}:",
        rf"\frac{{{above:.1f}}}{{{below:.1f}}} = {_tex_percent(shares[FOUR[0]])}",
        f"Also {join_names(written)}; the terms of segment and bias have {percent(rest)} together.",
    )


@_of_stored
def cancelled(kept: Decomposition) -> Example:
    """The cancellation of the head, and whether its shares are shown."""
    times = float(kept.cancellation[HEAD])
    scores = kept.total()[HEAD]
    size = float(np.linalg.norm(scores - scores.mean(-1, keepdims=True)))
    shown = "are withheld" if times > MAX_CANCELLATION else "can be shown"
    return Example(
        "In that head:", rf"\frac{{{times * size:.1f}}}{{{size:.1f}}} = {times:.1f}", f"So its shares {shown}."
    )


@_of_stored
def over_heads(kept: Decomposition) -> Example:
    """The share of the word-to-word term over the heads of the layer, as a mean and pooled."""
    term, scores = (part - part.mean(-1, keepdims=True) for part in (kept.terms_of(FOUR[0]), kept.total()))
    shares = [float(share) for share in kept.shares()[FOUR[0]]]
    above, below = float((term * scores).sum()), float((scores**2).sum())
    return Example(
        f"The share of {term_label(FOUR[0])} over the {kept.heads} heads of that layer, as a mean and pooled:",
        r"\begin{gathered} "
        rf"\frac{{{shares[0]:.2f} + \dots + {shares[-1]:.2f}}}{{{kept.heads}}} = "
        rf"{_tex_percent(sum(shares) / len(shares))} \\[6pt] \frac{{{above:.0f}}}{{{below:.0f}}} = "
        rf"{_tex_percent(above / below)} \end{{gathered}}",
    )


@_of_stored
def effect(kept: Decomposition) -> Example:
    """The effects of the head's terms."""
    effects = {term: float(values[HEAD]) for term, values in kept.effects().items() if term in FOUR}
    written = [f"{value:.2f} nats without {term_label(term)}" for term, value in effects.items()]
    return Example(f"In that head the pattern changes by {join_names(written)}.")
