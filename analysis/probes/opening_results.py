"""The results that the tabs of Look inside open with, stored: they need no model, and a reader waits for none.

`python -m analysis keep-opening-results` renews them. What a reader changes is run live.
"""

import zlib
from collections.abc import Mapping
from typing import Any

from analysis.core import default_model
from analysis.core.atomic_write import atomic_write
from analysis.links import VIEWS
from analysis.measurements.terms.result import Decomposition
from analysis.probes import text_probe, transfer
from analysis.probes.intervention_probe import InterventionRequest, PermutationRequest
from analysis.probes.model_request import ModelRequest
from analysis.probes.position_probe import PositionRequest
from analysis.probes.similarity_probe import SimilarityRequest
from analysis.probes.text_probe import CurvesRequest, LayersRequest, TermsRequest
from analysis.store.paths import cached_until_store_changes, data_folder

PAIR = ("The dog chased the cat.", "The cat chased the dog.")
"""The two texts that the tab Similarity opens with."""
FILE = ("opening", "results.bin")
"""The path of the file below the data folder: a compressed mapping from a request, written out, to its result."""


def requests(layers: int) -> tuple[ModelRequest[Any], ...]:
    """The requests that the tabs open with. layers: the number of the model's layers, each of which Scores offers."""
    opening = VIEWS["inside"].defaults()
    return (
        *(TermsRequest.of(opening | {"layer": layer}) for layer in range(layers)),
        *(kind.of(opening) for kind in (LayersRequest, CurvesRequest, PositionRequest)),
        *(kind.of(opening) for kind in (InterventionRequest, PermutationRequest)),
        SimilarityRequest.of(opening | dict(zip(("text", "pair"), PAIR, strict=True))),
    )


def stored_result(request: ModelRequest[Any]) -> Any:
    """The stored result of exactly this request; None where it has to be run.

    Only of the weights that Addend opens today: a result of another revision is none of this request.
    """
    result = _read().get(repr(request))
    return result if result is not None and result.provenance.revision == default_model.REVISION else None


@cached_until_store_changes(1)
def _read() -> Mapping[str, Any]:
    file = data_folder().joinpath(*FILE)
    return transfer.unpack(zlib.decompress(file.read_bytes())) if file.is_file() else {}


def renew() -> list[str]:
    """Runs what the tabs open with, stores the results in place of those before, and returns the requests."""
    layers = TermsRequest.of(VIEWS["inside"].defaults()).run().layers
    results = {repr(request): request.run() for request in requests(layers)}
    for result in results.values():
        text_probe.compute_measures(result)
        if isinstance(result, Decomposition):  # All that its figures draw, where torch is not installed, too.
            _ = result.cancellation, result.top1_agreement(), result.raw_rms()
    file = data_folder().joinpath(*FILE)
    file.parent.mkdir(exist_ok=True)
    with atomic_write(file) as partial:
        partial.write_bytes(zlib.compress(transfer.pack(results), 9))
    return list(results)
