"""Terms taken out of the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from analysis.core.errors import InterventionError
from analysis.core.term_names import ADDED_TERMS, TERMS, term_pair
from analysis.measurements.interventions.kinds.intervention import Intervention, intervention

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

    from analysis.models.trace_sources import Layer


@intervention
@dataclass(frozen=True)
class DropTerms(Intervention):
    """Scores less some of their terms, in some layers and heads; the terms are those of this same intervened pass.

    terms: of the sixteen, or of what the model adds (ADDED_TERMS). layers, heads: empty for all. Deeper than layer 0
    the terms are those of the method `frozen`. Its spec: drop_terms:word_to_word+word_to_position/LAYERS/HEADS, lists
    joined by +.
    """

    terms: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()
    heads: tuple[int, ...] = ()

    name = "drop_terms"
    title = "Drop terms"
    summary = "Chosen terms are subtracted from the scores of chosen layers and heads, before the softmax."
    places = ()

    def __post_init__(self) -> None:
        for term in self.terms:
            if term not in (*TERMS, *ADDED_TERMS):
                raise InterventionError(f"There is no term {term!r}; expected of: {', '.join((*TERMS, *ADDED_TERMS))}.")

    @classmethod
    def of(cls, strength: str) -> Self:
        """The intervention of a strength such as "word_to_word+word_to_position/0+1/3": terms, layers and heads.

        Raises InterventionError for one of another form.
        """
        terms, layers, heads, *more = [*strength.split("/"), "", ""][: max(3, strength.count("/") + 1)]
        numbers: list[tuple[int, ...]] = []
        try:
            numbers = [tuple(int(number) for number in part.split("+") if number) for part in (layers, heads)]
        except ValueError:
            more = [strength]
        if more:
            raise InterventionError(
                f"drop_terms:{strength} was asked for; expected terms, layers and heads, such as "
                "drop_terms:word_to_position+position_to_word/0+1/3 (nothing for all layers or heads)."
            )
        return cls(tuple(term for term in terms.split("+") if term), *numbers)

    @property
    def strength(self) -> str:
        """Terms, layers and heads."""
        parts = ("+".join(map(str, part)) for part in (self.terms, self.layers, self.heads))
        return "/".join(parts).rstrip("/")

    @property
    def description(self) -> str:
        """The terms, layers and heads that are dropped, in words."""
        if not self.terms:
            return "no term dropped"
        terms = ", ".join(term.replace("_to_", " → ") for term in self.terms)
        return f"{terms} dropped{_where('layer', self.layers)}{_where('head', self.heads)}"

    @property
    def sources(self) -> bool:
        """Terms are known where the sources are followed."""
        return bool(self.terms)

    def scores(self, layer: Layer) -> Float[Tensor, "B H T T"]:
        """The scores less the terms. Raises InterventionError for terms that this model does not have."""
        scores = layer.call.scores
        if not self.terms or (self.layers and layer.index not in self.layers):
            return scores
        heads = list(self.heads) or slice(None)
        scores = scores.clone()
        for row in range(len(scores)):
            result = layer.factors(row)
            for term in self.terms:
                if term in ADDED_TERMS:
                    if result.bias is None or term not in result.bias_terms:
                        there = f" It adds {', '.join(result.bias_terms)}." if result.bias_terms else ""
                        raise InterventionError(
                            f"This model adds no {term.replace('_', ' ')} to its scores, so {term} cannot be dropped; "
                            f"drop others.{there}"
                        )
                    dropped = result.bias[result.bias_terms.index(term), heads]
                else:
                    a, b = term_pair(term)
                    dropped = result.query[a, heads] @ result.key[b, heads].mT * result.scale
                scores[row, heads] -= dropped.to(scores.dtype)
        return scores


def _where(kind: str, numbers: Sequence[int]) -> str:
    if not numbers:
        return ""
    return f", {kind}{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
