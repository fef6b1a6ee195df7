"""One score of the stored example, taken apart in numbers, for the page Method and data."""

from analysis.core.formatting import fixed, join_names, signed
from analysis.core.term_names import FOUR
from analysis.figures.terms.measures import term_label
from analysis.links import VIEWS
from analysis.measurements.terms.result import Decomposition
from analysis.probes import opening_results
from analysis.probes.text_probe import TermsRequest

HEAD = 0
"""The head of the example."""


def example() -> str:
    """A score of the first layer as a sum of its terms; empty where none is stored."""
    kept = opening_results.stored_result(TermsRequest.of(VIEWS["inside"].defaults()))
    if kept is None:
        return ""
    query, key = strongest_pair(kept)
    parts = {term: float(kept.terms_of(term, HEAD)[query, key]) for term in FOUR}
    score = float(kept.scores[HEAD, query, key])
    parts["segment and bias"] = score - sum(parts.values())
    written = [f"{term_label(term)} {signed(value)}" for term, value in parts.items()]
    asks, answers = kept.tokens[query], kept.tokens[key]
    return (
        f"In numbers: “{kept.provenance.text}”, {kept.provenance.model}, layer {kept.layer}, head {HEAD}. The score of "
        f"“{asks}” for “{answers}” is {fixed(score)}, the sum of {join_names(written)}."
    )


def strongest_pair(kept: Decomposition) -> tuple[int, int]:
    """The query and the key, two different words of the text, between which attention of the head is strongest."""
    words = [index for index, token in enumerate(kept.token_info) if not token.special]
    pattern = kept.pattern_of(HEAD)
    return max(((query, key) for query in words for key in words if query != key), key=lambda pair: pattern[pair])
