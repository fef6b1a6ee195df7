"""The cross terms of attention: what each pair of sources adds to a score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.measurements.terms.result import FOUR, SOURCES, TERMS, Decomposition

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

    from analysis.measurements.means.stored_bases import StoredBasis

__all__ = ["FOUR", "SOURCES", "TERMS", "Decomposition", "decompose"]


@dataclass(frozen=True, kw_only=True)
class LayerOfText:
    """The arguments of `decompose` that say what is asked of a model; see there."""

    text: str
    pair: str | None
    layer: int
    method: str
    freeze: str
    truncate: bool


def decompose(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    text: str,
    text_pair: str | None = None,
    layer: int = 0,
    *,
    method: str = "frozen",
    basis: StoredBasis | None = None,
    freeze: str = "activation",
    truncate: bool = False,
) -> Decomposition:
    """The scores of one layer on a text, or a pair of texts, as a sum of sixteen terms (and a score bias).

    model: a transformers model of a supported architecture; tokenizer: its tokenizer.
    layer: zero-based; layer 0 is exact. Deeper, the sources are followed with patterns, normalisation
    statistics and gates held at their true values, and still add up exactly.
    method: "frozen", as above, or "mean": what enters the layer is split into context, position, residual and mean by
    `basis` (analysis.measurements.means.stored_bases.StoredBasis), which stored_basis(model, revision, layer) reads
    from the store. freeze: what is held of a gated unit act(gate) * up: "activation", "other" (up) or "half" of each.
    truncate: cut a text that is longer than the model's positions instead of refusing it.
    Raises TextError for an empty or over-long text, ModelError for a model that cannot be decomposed.
    """
    from analysis.measurements.terms.run import decompose as run
    from analysis.models.load import Loaded

    asked = LayerOfText(text=text, pair=text_pair, layer=layer, method=method, freeze=freeze, truncate=truncate)
    return run(Loaded.of(model, tokenizer), asked, basis)
