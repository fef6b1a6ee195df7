"""Proves that the curves of every head are the means of the maps that one layer's decomposition gives."""

import json

import command_line
import numpy as np
import pytest
from specimens import TEXT, embedded_loaded

from analysis.figures import FIGURES
from analysis.figures.drawing import panels
from analysis.figures.terms.curves import strongest
from analysis.links import VIEWS
from analysis.measurements.terms.curves import REACH
from analysis.probes.text_probe import CurvesRequest, TermsRequest

VALUES = VIEWS["inside"].defaults()


@pytest.mark.parametrize("model", ["all-MiniLM-L6-v2", "cpu-causal_no_position-0"])
def test_every_curve_is_the_mean_over_the_pairs_at_each_distance(model: str) -> None:
    loaded = embedded_loaded() if model == "all-MiniLM-L6-v2" else None
    run = CurvesRequest(model=model, text=TEXT).run(loaded)
    for layer in range(len(run.shares)):
        made = TermsRequest(model=model, text=TEXT, layer=layer).run(loaded)
        seen = np.ones(made.scores.shape[1:], bool) if made.attended is None else made.attended
        query, key = np.indices(seen.shape)
        for name, scores in (("total", made.scores), ("position", made.terms_of("position_to_position"))):
            masked = np.where(seen, scores, np.nan)
            centred = masked - np.nanmean(masked, axis=-1, keepdims=True)
            for place, distance in enumerate(run.distances):
                pairs = seen & (key - query == distance)
                assert run.pairs[place] == pairs.sum()
                curve = getattr(run, name)[layer, :, place]
                if pairs.any():
                    np.testing.assert_allclose(curve, centred[:, pairs].mean(-1), atol=1e-3 * np.ptp(scores))
                else:
                    assert np.isnan(curve).all()
        known = np.isfinite(made.shares()["position_to_position"])
        np.testing.assert_allclose(run.shares[layer][known], made.shares()["position_to_position"][known], atol=1e-4)


def test_the_figure_names_the_heads_that_go_by_position_in_either_order() -> None:
    run = CurvesRequest(model="all-MiniLM-L6-v2", text=TEXT).run(embedded_loaded())
    layer, head = strongest(run)
    assert run.shares[layer, head] == run.shares.max()
    above = int((run.shares > 0.5).sum())
    for order in ("layer", "share"):
        figure = FIGURES["probe_curves"].of({**VALUES, "heads_by": order}, run)
        assert f"{above} of {run.shares.size} heads" in figure.finding
        drawn = panels(figure)[0].to_dict()
        rows = drawn["datasets"][drawn["layer"][0]["data"]["name"]]
        assert [(row["layer"], row["head"]) for row in rows if row["here"]] == [(layer, head)]
        if order == "share":
            shares = [row["share"] for row in rows]
            assert shares == sorted(shares, reverse=True)
    frame = FIGURES["probe_curves"].of(VALUES, run).frame()
    assert len(frame) == run.position.size
    row = frame[(frame.layer == 2) & (frame["head"] == 7) & (frame.distance == 3)]
    assert row.position.item() == run.position[2, 7, list(run.distances).index(3)]


def test_a_long_text_is_followed_as_far_as_curves_are_drawn_and_the_command_prints_them(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "word " * (2 * REACH)
    asked = ["probe", "--text", text, "--distances", "--model", "cpu-bert_a-0"]
    assert command_line.run(monkeypatch, *asked) == 0
    printed = json.loads(capsys.readouterr().out)
    run = CurvesRequest(model="cpu-bert_a-0", text=text).run()
    assert printed["distances"] == list(range(-REACH, REACH + 1))
    np.testing.assert_allclose(printed["position"], run.position, atol=1e-5)
    assert command_line.run(monkeypatch, *asked, "--save")
    assert "save nothing" in capsys.readouterr().err
