"""Proves that the tabs of Look inside open with stored results that a run gives, too, and with no others."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
from specimens import embedded_loaded

from analysis.core import default_model
from analysis.links import VIEWS
from analysis.measurements.terms.result import Decomposition, Provenance
from analysis.probes import opening_results, text_probe
from analysis.probes.model_request import ModelRequest
from analysis.probes.text_probe import LayersRequest, PatternsRequest, TermsRequest

VALUES = VIEWS["inside"].defaults()


def compare(stored: Any, run: Any, where: str) -> None:
    """Checks that two results agree in every part but for rounding and the time of the run."""
    assert type(stored) is type(run), where
    if is_dataclass(stored):
        for field in fields(stored):
            if not isinstance(getattr(stored, field.name), Provenance):
                compare(getattr(stored, field.name), getattr(run, field.name), f"{where}.{field.name}")
    elif isinstance(stored, Mapping):
        assert list(stored) == list(run), where
        for name in stored:
            compare(stored[name], run[name], f"{where}[{name}]")
    elif isinstance(stored, tuple):
        assert len(stored) == len(run), where
        for number, pair in enumerate(zip(stored, run, strict=True)):
            compare(*pair, f"{where}[{number}]")
    elif isinstance(stored, float | np.ndarray):
        np.testing.assert_allclose(stored, run, atol=3e-4, rtol=3e-3, err_msg=where)
    else:
        assert stored == run, where


@pytest.mark.parametrize("request_of_tab", opening_results.requests(6), ids=lambda request: type(request).__name__)
def test_a_stored_result_is_that_of_a_run(request_of_tab: ModelRequest[Any]) -> None:
    stored = opening_results.stored_result(request_of_tab)
    run = request_of_tab.run(embedded_loaded())
    text_probe.compute_measures(run)
    if isinstance(run, Decomposition):
        _ = run.cancellation, run.top1_agreement(), run.raw_rms()
    compare(stored, run, type(run).__name__)
    assert stored.provenance.revision == run.provenance.revision


def test_the_layers_are_all_that_the_model_has() -> None:
    stored = opening_results.stored_result(TermsRequest.of(VALUES))
    assert isinstance(stored, Decomposition)
    assert stored.layers == 6, "test_a_stored_result_is_that_of_a_run asks for as many"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "The keys to the old cabinet are on the table"},
        {"pair": "And the door is open.", "side": "together"},
        {"layer": 6},
        {"model": "cpu-bert_a-0"},
        {"revision": "main"},
        {"method": "mean"},
        {"truncate": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_a_reader_changes_is_run(changes: dict[str, str | int | bool]) -> None:
    assert opening_results.stored_result(TermsRequest.of(VALUES | changes)) is None


def test_another_measure_and_another_kind_of_run_are_not_stored() -> None:
    assert opening_results.stored_result(LayersRequest.of(VALUES | {"measure": "effect"})) is None
    assert opening_results.stored_result(PatternsRequest.of(VALUES)) is None


def test_the_result_of_other_weights_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_model, "REVISION", "sha256:other")
    assert opening_results.stored_result(TermsRequest.of(VALUES)) is None
