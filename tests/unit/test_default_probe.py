"""Proves that the page Look inside opens with a stored result that a run gives, too, and with no other."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from specimens import embedded_loaded

from analysis.core import default_model
from analysis.links import VIEWS
from analysis.measurements.terms.result import Decomposition, Layers
from analysis.probes import default_probe, saved_probes
from analysis.probes.text_probe import LayersRequest, PatternsRequest, TermsRequest

VALUES = VIEWS["probe"].defaults()


def test_the_stored_terms_are_those_of_a_run() -> None:
    stored = default_probe.stored_result(TermsRequest.of(VALUES))
    assert isinstance(stored, Decomposition)
    assert stored.probe_id is None, "the page shows it as it shows a run"
    run = TermsRequest.of(VALUES).run(embedded_loaded())
    assert stored.tokens == run.tokens
    assert stored.provenance.revision == run.provenance.revision
    np.testing.assert_allclose(stored.scores, run.scores, atol=1e-4)
    np.testing.assert_allclose(stored.cancellation, run.cancellation, rtol=1e-3)
    for kept, made in ((stored.shares(), run.shares()), (stored.effects(), run.effects())):
        for term in made:
            np.testing.assert_allclose(kept[term], made[term], atol=1e-4)


def test_the_stored_layers_are_those_of_a_run() -> None:
    stored = default_probe.stored_result(LayersRequest.of(VALUES))
    assert isinstance(stored, Layers)
    run = LayersRequest.of(VALUES).run(embedded_loaded())
    assert (stored.terms, stored.measure, stored.tokens) == (run.terms, run.measure, run.tokens)
    for name in saved_probes.LAYER_ARRAYS:
        np.testing.assert_allclose(getattr(stored, name), getattr(run, name), atol=2e-4, rtol=2e-3)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "The keys to the old cabinet are on the table"},
        {"pair": "And the door is open."},
        {"layer": 1},
        {"model": "cpu-bert_a-0"},
        {"revision": "main"},
        {"method": "mean"},
        {"truncate": True},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_a_reader_changes_is_run(changes: dict[str, str | int | bool]) -> None:
    assert default_probe.stored_result(TermsRequest.of(VALUES | changes)) is None


def test_another_measure_and_another_kind_of_run_are_not_stored() -> None:
    assert default_probe.stored_result(LayersRequest.of(VALUES | {"measure": "effect"})) is None
    assert default_probe.stored_result(PatternsRequest.of(VALUES)) is None


def test_the_result_of_other_weights_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(default_model, "REVISION", "sha256:other")
    assert default_probe.stored_result(TermsRequest.of(VALUES)) is None


def test_layers_with_undefined_shares_are_kept(data: Path) -> None:
    run = LayersRequest.of(VALUES).run(embedded_loaded())
    values = run.values.copy()
    values[0, 0, 0] = np.nan
    made = TermsRequest.of(VALUES).run(embedded_loaded())
    saved_probes.write(made, "a command", name="kept", layers=replace(run, values=values))
    kept = saved_probes.read_layers("kept")
    assert kept is not None
    np.testing.assert_array_equal(np.isnan(kept.values), np.isnan(values))
    saved_probes.write(made, "a command", name="one-layer")
    assert saved_probes.read_layers("one-layer") is None
