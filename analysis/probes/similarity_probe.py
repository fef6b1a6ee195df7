"""A request for the similarity of two texts as a sum. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING, Any, Self

from analysis.core.errors import LinkError
from analysis.core.provenance import model_options
from analysis.links import Values
from analysis.measurements.similarity.result import POOLINGS, Similarity
from analysis.probes.model_request import ModelRequest

if TYPE_CHECKING:
    from analysis.models.load import Loaded


@dataclass(frozen=True, kw_only=True)
class SimilarityRequest(ModelRequest[Similarity]):
    """Two texts, each read by itself. pooling: how one vector is made of a text, of `POOLINGS`."""

    text: str
    pair: str = ""
    pooling: str = "mean"
    freeze: str = "activation"
    truncate: bool = False

    @classmethod
    def of(cls, values: Values, **arguments: Any) -> Self:
        """The request that the values of a link make. Raises LinkError for an unknown pooling."""
        request = super().of(values, **arguments)
        if request.pooling not in POOLINGS:
            raise LinkError(f"The link says pooling={request.pooling!r}; expected one of: {', '.join(POOLINGS)}.")
        return request

    def run(self, loaded: Loaded | None = None) -> Similarity:
        """Splits the cosine. Raises ModelError and TextError."""
        from analysis.measurements.similarity.measure import similarity

        return similarity(loaded or self.load(), self)


def command(result: Similarity) -> str:
    """The command that measures a similarity again."""
    about = result.provenance
    model = model_options(about.model, about.revision).removeprefix("--model ")
    pooling = "" if result.pooling == "mean" else f" --pooling {result.pooling}"
    return f"python -m analysis similarity {model} {quote(about.text)} {quote(about.text_pair or '')}{pooling} --json"
