"""The probe that the page Look inside opens with, as a stored result: it needs no model, and waits for none.

`python -m analysis keep-default-probe` renews it. What a reader changes is run live.
"""

from dataclasses import replace

from analysis.core import default_model
from analysis.core.errors import StoreError
from analysis.links import VIEWS
from analysis.measurements.terms.result import Decomposition, Layers
from analysis.probes import saved_probes, text_probe
from analysis.probes.model_request import ModelRequest
from analysis.probes.text_probe import LayersRequest, TermsRequest
from analysis.store.paths import cached_until_store_changes

DEFAULT = f"{saved_probes.EXAMPLE}agreement"
"""The id of the saved probe that holds it, with the terms of every layer."""
TITLE = "Agreement across a distractor"


def stored_result(request: ModelRequest[object]) -> Decomposition | Layers | None:
    """The stored result of exactly this request; None where it has to be run.

    Only of the weights that Addend opens today: a result of another revision is none of this request.
    """
    values = VIEWS["probe"].defaults()
    if request not in (TermsRequest.of(values), LayersRequest.of(values)):
        return None
    return _read(default_model.REVISION, request)


@cached_until_store_changes(8)
def _read(revision: str, request: ModelRequest[object]) -> Decomposition | Layers | None:
    try:
        kept = saved_probes.read(DEFAULT)
        layers = saved_probes.read_layers(DEFAULT)
    except StoreError:
        return None
    if kept.provenance.revision != revision or kept.provenance.text != VIEWS["probe"].defaults()["text"]:
        return None
    return layers if isinstance(request, LayersRequest) else replace(kept, probe_id=None)


def renew() -> str:
    """Runs the default probe, keeps it in the place of the stored one, and returns its id."""
    values = VIEWS["probe"].defaults()
    loaded = TermsRequest.of(values).load()
    made, layers = TermsRequest.of(values).run(loaded), LayersRequest.of(values).run(loaded)
    return saved_probes.write(made, text_probe.command(made), TITLE, name=DEFAULT, layers=layers)
