"""One cell of a map, taken apart: its terms add up to the score that the model itself gives, on every page."""

import numpy as np
import pytest
from drawn_values import bars as bars_of, drawn_rows
from specimens import TEXT, embedded_loaded

from analysis.core.errors import LinkError
from analysis.figures import FIGURES
from analysis.figures.terms.maps import REST
from analysis.links import VIEWS
from analysis.probes import text_probe
from analysis.probes.image_probe import ImageRequest


def test_the_bars_of_a_cell_add_up_to_the_models_own_score() -> None:
    values = {**VIEWS["probe"].defaults(), "text": TEXT, "centred": False, "head": 3, "query": 2, "key": 1}
    made = text_probe.TermsRequest.of(values).run(embedded_loaded())
    bars = bars_of(FIGURES["probe_cell"].of(values, made))
    assert bars["total"] == pytest.approx(made.scores[3, 2, 1], abs=1e-4)
    assert sum(bars.values()) - bars["total"] == pytest.approx(bars["total"], abs=1e-4)
    every = bars_of(FIGURES["probe_cell"].of(values | {"group": "all"}, made))
    assert REST in bars
    assert REST not in every
    assert sum(every.values()) == pytest.approx(sum(bars.values()), abs=1e-4)


def test_the_sides_of_a_compared_cell_are_those_of_each_alone() -> None:
    values = {**VIEWS["compare"].defaults(), "text": TEXT, "centred": False, "query": 1, "key": 2, "head2": 4}
    both = tuple(text_probe.TermsRequest.of(side).run(embedded_loaded()) for side in text_probe.sides(values))
    figure = FIGURES["compare_cell"].of(values, both)
    table = drawn_rows(figure, "term", "left", "right")[0].set_index("term")
    for side, made, head in zip(("left", "right"), both, (0, 4), strict=True):
        assert table[side]["total"] == pytest.approx(made.scores[head, 1, 2], abs=1e-4)
        assert table[side].drop("total").sum() == pytest.approx(table[side]["total"], abs=1e-4)
    np.testing.assert_allclose(table.difference, table.right - table.left)
    short = values | {"text2": "the cat sat .", "query": -1, "key": -1}
    both_short = (both[0], text_probe.TermsRequest.of(text_probe.sides(short)[1]).run(embedded_loaded()))
    cell = FIGURES["compare_cell"].of(short, both_short).frame()
    assert cell.notna().all().all(), "a cell that both sides have is shown, though one text is shorter"
    with pytest.raises(LinkError, match="query=99; the rows shown are 0 to"):
        FIGURES["compare_cell"].of(values | {"query": 99}, both)


def test_the_attention_of_both_sides_is_the_models_own() -> None:
    values = {**VIEWS["compare"].defaults(), "text": TEXT, "head2": 4}
    both = tuple(text_probe.TermsRequest.of(side).run(embedded_loaded()) for side in text_probe.sides(values))
    figure = FIGURES["compare_attention"].of(values, both)
    for side, made, head in zip(("left", "right"), both, (0, 4), strict=True):
        rows = figure.frame()
        shown = rows[rows["map"] == side].value.to_numpy()
        np.testing.assert_allclose(shown, made.pattern[head].ravel(), atol=1e-6)
        assert f"{100 * made.pattern[head].max(axis=1).mean():.0f} %" in figure.finding


@pytest.mark.usefixtures("store")
def test_a_stored_head_has_the_terms_of_the_store() -> None:
    values = {**VIEWS["depth"].defaults(), "at_layer": 2, "at_head": 5}
    bars = bars_of(FIGURES["depth_cell"].of(values))
    assert sum(bars.values()) == pytest.approx(1, abs=1e-3), "shares of a head add up to 1"
    largest = FIGURES["depth_cell"].of(values | {"at_layer": -1, "at_head": -1})
    rows = FIGURES["depth_heads"].of(values).frame()
    heads = rows.pivot(index="layer", columns="head", values=str(values["measure"]))
    layer, head = np.unravel_index(heads.to_numpy().argmax(), heads.shape)
    assert f"layer {layer}, head {head}" in largest.finding
    with pytest.raises(LinkError, match="layers 0 to 5 and heads 0 to 11"):
        FIGURES["depth_cell"].of(values | {"at_layer": 2, "at_head": 40})
    image = FIGURES["vision_head"].of({**VIEWS["vision"].defaults(), "at_layer": 1, "at_head": 0})
    assert sum(bars_of(image).values()) == pytest.approx(1, abs=1e-3)


def test_the_bars_of_a_patch_add_up_to_the_models_own_score() -> None:
    values = {**VIEWS["vision"].defaults(), "centred": False, "patch": 5, "key": 9, "head": 1}
    made = ImageRequest.of(values).run()
    bars = bars_of(FIGURES["vision_cell"].of(values, made))
    assert bars["total"] == pytest.approx(made.scores[1, 5, 9], abs=1e-4)
    assert sum(bars.values()) - bars["total"] == pytest.approx(bars["total"], abs=1e-4)
    with pytest.raises(LinkError, match="key=1000"):
        FIGURES["vision_cell"].of(values | {"key": 1000}, made)


def test_the_right_side_follows_the_left_unless_it_is_changed() -> None:
    values = {**VIEWS["compare"].defaults(), "layer": 3, "head": 7, "method": "mean", **text_probe.FOLLOWING}
    left, right = text_probe.sides(values)
    assert {name: right[name] for name in text_probe.SIDED} == {name: left[name] for name in text_probe.SIDED}
    assert text_probe.differences(values) == {}
    changed = values | {"head2": 2, "pair2": "ignored", "text2": "the cat"}
    assert text_probe.differences(changed)["head"] == (7, 2)
    assert text_probe.differences(changed)["text"][1] == "the cat"
