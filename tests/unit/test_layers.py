"""Proves that the view of every layer at once is what each layer gives on its own, and that saved masks come back."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from family_specimens import SPECIMENS
from specimens import PAIR, TEXT, embedded_loaded, tiny_bert, tiny_tokenizer

from analysis.core.term_names import FOUR, SOURCES
from analysis.figures import FIGURES
from analysis.figures.drawing import panels
from analysis.figures.layers.against_depth import MORE
from analysis.measurements.terms import decompose
from analysis.measurements.terms.masks import ALL, attended_keys, describe_mask
from analysis.models.load import Loaded
from analysis.probes import text_probe
from analysis.probes.text_probe import LayersRequest


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_every_layer_is_what_it_is_on_its_own(measure: str) -> None:
    model = tiny_bert(num_hidden_layers=3)
    found = LayersRequest(model="", text=PAIR[0], pair=PAIR[1], measure=measure).run(Loaded.of(model, tiny_tokenizer()))
    assert found.values.shape == (3, 16, 4)
    for layer in range(3):
        made = decompose(model, tiny_tokenizer(), *PAIR, layer=layer)
        alone = made.shares() if measure == "share" else made.effects()
        for number, term in enumerate(found.terms):
            np.testing.assert_allclose(found.values[layer, number], alone[term], atol=1e-5, err_msg=term)
    np.testing.assert_allclose(found.carried.sum(1), 1, atol=1e-5)
    assert found.errors[:, 1].max() < 1e-5
    assert found.state_error < 1e-5


def test_a_score_bias_is_a_term_of_every_layer() -> None:
    model: Any = SPECIMENS["addend bert_r"].build()
    found = LayersRequest(model="", text=TEXT).run(Loaded.of(model, tiny_tokenizer()))
    assert found.terms[-1] == "score_bias"
    np.testing.assert_allclose(np.nansum(found.values, 1), 1, atol=1e-4)
    assert np.abs(found.values[:, -1]).max() > 1e-3


PARAMS = {
    "model": "", "revision": "", "text": TEXT, "pair": "", "layer": 0, "truncate": False, "measure": "share",
    "term": "position_to_position",
}  # fmt: skip


def test_figures_of_every_layer_show_its_numbers() -> None:
    loaded = embedded_loaded()
    run = text_probe.LayersRequest.of(PARAMS).run(loaded)
    heat, depth = (FIGURES[name].of(PARAMS, run) for name in ("probe_layers", "probe_depth"))
    frame = heat.frame().set_index(["layer", "head"]).value
    assert frame[3, 7] == run.values[3, run.terms.index("position_to_position"), 7]
    states = depth.frame().query("panel == 'states' and layer == 5").set_index("series").value
    assert states["word"] == pytest.approx(run.carried[5, SOURCES.index("word")])
    assert "add up to the model's own scores" in heat.caption
    assert len(panels(heat)) == 1
    assert len(panels(depth)) == 2


LED = re.compile(r"(\w+ → \w+) at (every layer|layers? [\d, and to]+?) \((?:up to )?([\d.]+) (?:%|nats)\)")


def _layers(words: str, count: int) -> set[int]:
    """The layers that a sentence names: "every layer", "layer 2", "layers 0 to 2 and 4"."""
    if words == "every layer":
        return set(range(count))
    spans = [part.split(" to ") for part in re.split(r", | and ", words.split(" ", 1)[1])]
    return {layer for span in spans for layer in range(int(span[0]), int(span[-1]) + 1)}


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_the_title_over_depth_is_true_of_any_values(measure: str) -> None:
    """Title and caption say which term leads at which layer, its largest value, and where the others add up to more."""
    run = text_probe.LayersRequest.of({**PARAMS, "measure": measure}).run(embedded_loaded())
    for seed in range(20):
        values = np.random.default_rng(seed).dirichlet(np.ones(16), size=run.values[:, 0].shape).transpose(0, 2, 1)
        made = replace(run, values=values)
        figure = FIGURES["probe_depth"].of({}, made)
        sizes = figure.caption.partition(" Of the scores:")[0]
        mean = values.mean(-1)
        four = [run.terms.index(term) for term in FOUR]
        leads = [FOUR[index].replace("_to_", " → ") for index in mean[:, four].argmax(1)]
        said = LED.findall(sizes)
        assert said
        assert {label: _layers(words, len(leads)) for label, words, _ in said} == {
            label: {layer for layer, name in enumerate(leads) if name == label} for label in leads
        }
        for label, words, size in said:
            top = max(mean[layer, four].max() for layer in _layers(words, len(leads)))
            assert size == (f"{100 * top:.0f}" if measure == "share" else f"{top:.2f}"), label
        others = np.delete(mean, four, axis=1).sum(1)
        above = {layer for layer in range(len(mean)) if others[layer] > MORE * mean[layer, four].max()}
        level = {layer for layer in range(len(mean)) if others[layer] > mean[layer, four].max() / MORE} - above
        most = max(leads.count(name) for name in leads)
        at = "every layer" if most == len(leads) else f"{most} of {len(leads)} layers"
        assert figure.finding.endswith(f" at {at}")
        states = str([panel.to_dict() for panel in panels(figure)])
        parts = {source: f"{100 * part:.0f} % {source}" for source, part in zip(SOURCES, run.carried[-1], strict=True)}
        largest = SOURCES[int(run.carried[-1].argmax())]
        assert {name for name, said in parts.items() if said in states} == {largest, "position"}
        assert leads.count(re.search(r"(\w+ → \w+) ", figure.finding)[1]) == most
        for said_of, layers in (("above", above), ("beside", level)):
            named = re.search(
                rf"grey line, .*?{said_of} (?:it|the largest) at (layers? \d+(?:(?:, | and | to )\d+)*) "
                r"\((?:up to )?(\d+) %\)",
                sizes,
            )
            assert (_layers(named[1], len(leads)) if named else set()) == (layers if measure == "share" else set())
            if named:
                assert named[2] == f"{100 * max(others[layer] for layer in layers):.0f}"
                first = sizes.partition(". ")[0]
                assert named[0] in first, "the sentence that says which term is largest says what is larger still"


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_the_title_of_one_term_names_its_largest_head(measure: str) -> None:
    run = text_probe.LayersRequest.of({**PARAMS, "measure": measure}).run(embedded_loaded())
    for term in (*FOUR, "segment_to_bias"):
        figure = FIGURES["probe_layers"].of({"term": term}, run)
        values = run.values[:, run.terms.index(term)]
        layer, head = np.unravel_index(int(np.nanargmax(values)), values.shape)
        assert f"layer {layer}, head {head}" in figure.finding
        size = f"{100 * values.max():.0f} %" if measure == "share" else f"{values.max():.2f} nats"
        assert size in figure.finding
        stops = panels(figure)[0].to_dict()["encoding"]["color"]["scale"]["domain"]
        assert stops[0] == min(0.0, values.min())
        least = 1.0 if measure == "share" else 0.0
        assert stops[-1] == max(least, values.max()), "one colour is one share in every figure"


def test_scores_against_distance_are_means_of_diagonals() -> None:
    """Of a causal rotary model: nothing lies ahead, and why there is no position is said."""
    model: Any = SPECIMENS["addend rotary"].build()
    made = decompose(model, tiny_tokenizer(), TEXT, layer=1)
    figure = FIGURES["probe_distance"].of({"head": 2}, made)
    frame = figure.frame().set_index(["term", "distance"])
    centred = made.scores[2] - made.scores[2].mean(-1, keepdims=True)
    for away in (-3, 0, 5):
        assert frame["mean"]["total", away] == pytest.approx(np.diagonal(centred, away).mean(), abs=1e-5)
        assert frame.pairs["total", away] == len(made.tokens) - abs(away)
    assert "rotates its queries and keys by position" in figure.caption
    assert len(panels(figure)) == 1
    causal: Any = SPECIMENS["llama"].build()
    made = decompose(causal, tiny_tokenizer(), TEXT)
    assert FIGURES["probe_distance"].of({"head": 0}, made).frame().distance.max() == 0


@pytest.mark.parametrize("words", ["causal", "near 3", "causal near 4", "window 2"])
@pytest.mark.parametrize("length", [1, 2, 9])
def test_a_mask_comes_back_from_its_words(words: str, length: int) -> None:
    seen = attended_keys(words, length)
    again = attended_keys(describe_mask(seen), length)
    np.testing.assert_array_equal(np.ones((length, length), bool) if again is None else again, seen)


def test_any_other_mask_is_kept_bit_by_bit() -> None:
    seen = np.random.default_rng(0).random((7, 7)) < 0.5
    words = describe_mask(seen)
    assert words.startswith("keys ")
    np.testing.assert_array_equal(attended_keys(words, 7), seen)
    assert describe_mask(np.ones((4, 4), bool)) == describe_mask(None) == ALL
