"""The cross terms of attention: what each pair of sources adds to a score."""

from typing import Any

from analysis.terms.result import FOUR, SOURCES, TERMS, Decomposition

__all__ = ["FOUR", "SOURCES", "TERMS", "Decomposition", "decompose"]


def decompose(
    model: Any, tokenizer: Any, text: str, text_pair: str | None = None, layer: int = 0, *, truncate: bool = False
) -> Decomposition:
    """The scores of one layer on a text, or a pair of texts, as a sum of sixteen terms.

    model: a transformers model of a supported architecture; tokenizer: its tokenizer.
    layer: zero-based; layer 0 is exact.
    truncate: cut a text that is longer than the model's positions instead of refusing it.
    Raises TextError for an empty or over-long text, ModelError for a model that cannot be decomposed.
    """
    from analysis.terms.run import decompose as run

    return run(model, tokenizer, text, text_pair, layer, truncate=truncate)
