"""Proves that two at once are the two as they are alone, and the difference right less left."""

import json
import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from drawn_values import colour_limits, drawn_maps
from specimens import TEXT, embedded_loaded

from analysis.core.errors import LinkError
from analysis.core.formatting import signed
from analysis.figures import FIGURES, Figure
from analysis.figures.compare.two_sides import CompareParameters, side_of_cell
from analysis.figures.drawing import panels
from analysis.links import SECOND_HEAD, VIEWS
from analysis.moved_links import moved
from analysis.probes import text_probe

DEFAULTS = {**VIEWS["compare"].defaults(), "text": TEXT}


def both(**changes: object) -> tuple:
    sides = text_probe.sides({**DEFAULTS, **changes})
    return tuple(text_probe.TermsRequest.of(side).run(embedded_loaded()) for side in sides)


def test_sides_that_lie_far_apart_have_one_scale_where_a_link_asks_for_it() -> None:
    made, values = both(layer2=3), {**VIEWS["inside"].defaults(), "text": TEXT, "layer2": 3, "head": -1, "head2": 7}
    limits = [colour_limits(FIGURES["compare_maps"].of({**values, "one_scale": one}, made)) for one in (False, True)]
    assert len(limits[0]) == 2, "these two lie far apart"
    assert limits[0][0] != limits[0][1]
    assert len(limits[1]) == 3, "on one scale there is a difference to see"
    assert limits[1][0] == limits[1][1]


def test_a_side_that_names_nothing_takes_the_others_model_and_text() -> None:
    left, right = text_probe.sides({**DEFAULTS, "pair": "a dog ran ."})
    assert (right["model"], right["text"], right["pair"]) == (left["model"], TEXT, "a dog ran .")
    assert (left["layer"], right["layer"]) == (0, 5)
    _, right = text_probe.sides({**DEFAULTS, "pair": "a dog ran .", "text2": "the cat"})
    assert (right["text"], right["pair"]) == ("the cat", "")


def test_both_maps_are_on_one_scale_and_the_difference_on_its_own() -> None:
    made = both(head2=3)
    figure = FIGURES["compare_maps"].of({**DEFAULTS, "head2": 3, "centred": False}, made)
    expected = made[1].terms_of("position_to_position", 3) - made[0].terms_of("position_to_position", 0)
    maps = drawn_maps(figure)
    assert len(maps) == 3
    np.testing.assert_allclose(maps[2], expected, atol=1e-5)
    largest = [np.abs(one.to_numpy()).max() for one in maps]
    assert colour_limits(figure) == pytest.approx([max(largest[:2])] * 2 + [largest[2]])
    assert "layer 5, head 3" in figure.caption
    query, key = np.unravel_index(np.abs(expected).argmax(), expected.shape)
    tokens = [token.text for token in made[0].token_info]
    assert f"“{tokens[query]}” looks at {'itself' if query == key else f'“{tokens[key]}”'}" in figure.finding
    assert f"by {signed(float(expected[query, key]))}" in figure.finding


def test_tokens_that_differ_are_both_named_at_the_cells_of_the_difference_and_the_left_ones_on_its_axes() -> None:
    changes = {"text2": TEXT.replace("cat", "dog"), "layer2": -1}
    made = both(**changes)
    figure = FIGURES["compare_maps"].of({**DEFAULTS, **changes}, made)
    first, second = ([token.text for token in one.token_info] for one in made)
    assert 0 < sum(a != b for a, b in zip(first, second, strict=True)) < len(first)
    difference = panels(figure)[2]
    both_words = [a if a == b else f"{a} → {b}" for a, b in zip(first, second, strict=True)]
    assert difference.data.column_label[: len(first)].tolist() == both_words
    shown = difference.encoding.x.to_dict()["axis"]["labelExpr"].removeprefix("split(")
    names, _, rest = shown.partition("[datum")
    assert [name.split(" → ")[0] for name in json.loads(names)] == first
    assert rest.endswith(", ' → ')[0]")
    same = FIGURES["compare_maps"].of({**DEFAULTS, "layer2": -1}, both(layer2=-1))
    assert "is the same on both sides" in same.finding


def test_the_shares_of_the_two_heads_stand_above_their_maps_and_each_scale_holds_its_map() -> None:
    by_layer = {layer2: both(layer2=layer2) for layer2 in (-1, 3)}
    sides = ((-1, -1, False), (-1, 7, True), (4, 9, True), (0, -1, False), (-1, SECOND_HEAD, True))
    terms = ("position_to_position", "word_to_word", "word_to_position")
    for (layer2, made), (head, head2, own_scale), term in product(by_layer.items(), sides, terms):
        values = {**DEFAULTS, "head": head, "head2": head2, "layer2": layer2, "term": term, "own_scale": own_scale}
        figure = FIGURES["compare_maps"].of(values, made)
        shares = [one.shares()[term] for one in made]
        left = int(shares[0].argmax()) if head == -1 else head
        by_share = sorted(range(len(shares[1])), key=lambda one: -float(shares[1][one]))
        following = by_share[0] if head == -1 else head
        right = {-1: following, SECOND_HEAD: by_share[1]}.get(head2, head2)
        expected = [f"{100 * shares[0][left]:.0f}", f"{100 * shares[1][right]:.0f}"]
        heads_of_maps = [panel.to_dict()["title"] for panel in panels(figure)[:2]]
        said = re.findall(r"(−?\d+) %", " ".join(line for head in heads_of_maps for line in head["subtitle"]))
        assert [number.replace("−", "-") for number in said] == expected
        titles = [" ".join(head["text"]) for head in heads_of_maps]
        assert re.findall(r"layer (\d+), head (\d+)", " ".join(titles)) == [
            (str(one.layer), str(head)) for one, head in zip(made, (left, right), strict=True)
        ]
        limits = [float(np.abs(one.to_numpy()).max()) or 1.0 for one in drawn_maps(figure)]
        weak = max(limits[:2]) > 4 * min(limits[:2])
        together = [max(limits[:2])] * 2 + limits[2:]
        said = re.search(r"the largest score of the (left|right) side is over (\d+) times smaller", figure.caption)
        assert bool(said) == weak
        if said:
            weaker = ("left", "right").index(said[1])
            assert limits[weaker] < limits[1 - weaker] / int(said[2]) < 2 * limits[weaker]
        assert colour_limits(figure) == pytest.approx(limits if own_scale or weak else together, rel=1e-5)
        assert len(limits) == len(panels(figure)) == (2 if weak else 3)
        assert "difference" in set(figure.frame()["map"])


def test_texts_of_different_lengths_have_no_difference_map_but_terms() -> None:
    made = both(text2="the cat sat .")
    maps = FIGURES["compare_maps"].of({**DEFAULTS, "text2": "the cat sat ."}, made)
    assert set(maps.frame()["map"]) == {"left", "right"}
    assert len(panels(maps)) == 2
    assert f"{len(made[0].tokens)} and {len(made[1].tokens)} tokens" in maps.caption
    for figure in (maps, FIGURES["compare_attention"].of({**DEFAULTS, "text2": "the cat sat ."}, made)):
        axes = [panel.encoding.x.to_dict()["axis"] for panel in panels(figure)]
        assert [len(json.loads(axis["labelExpr"].partition("[datum")[0])) for axis in axes] == [
            len(one.tokens) for one in made
        ]
        assert len({axis["minExtent"] for axis in axes}) == 1, "both maps are equally high"
    table = FIGURES["compare_terms"].of(DEFAULTS, made).frame().set_index("term")
    shares = [side.shares()["word_to_word"].mean() for side in made]
    assert table.difference["word_to_word"] == pytest.approx(shares[1] - shares[0], abs=1e-6)


def test_a_link_that_says_nothing_of_the_sides_opens_two_heads_and_any_other_what_it_says() -> None:
    page, values = moved("compare", DEFAULTS)
    assert page == "inside"
    left, right = text_probe.sides(values)
    assert [name for name in left if left[name] != right[name]] == ["head"]
    shares = [both()[0].shares()["position_to_position"][head] for head in viewed(values)]
    assert shares == sorted(both()[0].shares()["position_to_position"])[:-3:-1]
    for changes in ({"layer2": 3}, {"head": 2}, {"text2": "the cat sat ."}, {"method2": "mean"}):
        _, values = moved("compare", {**DEFAULTS, **changes})
        assert {**values, **changes} == values
        assert (values["head"], values["head2"]) == (changes.get("head", 0), 0)


@pytest.mark.parametrize("layer2", [1, 3])
def test_a_map_that_one_cell_fills_is_said_to_be_nearly_empty_elsewhere(layer2: int) -> None:
    values = {**DEFAULTS, "layer2": layer2, "head": -1}
    figure = FIGURES["compare_maps"].of(values, both(layer2=layer2))
    rows = figure.frame()
    for side in ("left", "right"):
        cells = rows[rows["map"] == side]
        shares = cells.value**2 / (cells.value**2).sum()
        cell = cells.loc[shares.idxmax()]
        clause = f"the {side} map is nearly empty because one cell, “{cell['query']}” on “{cell['key']}”, has"
        assert (clause in figure.caption) == (shares.max() > 0.5)
        assert (side, layer2) != ("right", 3) or clause in figure.caption, "layer 3 is such a case"
        assert clause not in figure.caption or f"{clause} {100 * shares.max():.0f} % of" in figure.caption


def viewed(values: dict[str, Any]) -> list[int]:
    """The heads that the maps of a link name in their caption."""
    figure = FIGURES["compare_maps"].of(values, both(layer2=-1))
    return [int(number) for number in re.findall(r"layer \d+, head (\d+)", figure.caption)]


def test_the_first_cell_is_the_largest_at_the_left_or_of_the_weaker_map_where_each_has_its_own_scale() -> None:
    sides_taken = set()
    terms, own_scales = ("position_to_position", "word_to_word"), (False, True)
    for layer2, term, own_scale in product((-1, 3), terms, own_scales):
        made = both(layer2=layer2)
        values = {**DEFAULTS, "layer2": layer2, "head": -1, "head2": SECOND_HEAD, "term": term, "own_scale": own_scale}
        values |= {"query": -1, "key": -1}
        rows = FIGURES["compare_maps"].of(values, made).frame()
        sides = {side: rows[rows["map"] == side].value for side in ("left", "right")}
        weaker = min(sides, key=lambda side: sides[side].abs().max())
        weak = max(values.abs().max() for values in sides.values()) > 4 * sides[weaker].abs().max()
        expected = weaker if own_scale or weak else "left"
        cell = FIGURES["compare_cell"].of(values, made)
        assert cell.frame().set_index("term")[expected][term] == pytest.approx(sides[expected].max(), rel=1e-5)
        assert f"{signed(float(sides[expected].max()))} on the {expected}" in cell.finding
        assert side_of_cell(CompareParameters.of(values), made) == expected
        sides_taken.add((expected, own_scale))
    assert ("left", False) in sides_taken
    assert len(sides_taken) > 1


def test_the_cell_that_is_taken_apart_is_outlined_in_every_map() -> None:
    values = {**DEFAULTS, "query": 2, "key": 1}
    made = both()
    for look, outlines in (("cell", 3), ("terms", 0), ("attention", 0), ("", 3)):
        drawn = panels(FIGURES["compare_maps"].of({**values, "look": look}, made))
        framed = [
            layer
            for panel in drawn
            for layer in getattr(panel, "layer", [])
            if getattr(layer.mark, "strokeWidth", 0) == 3
        ]
        assert len(framed) == outlines
        assert all(tuple(frame.data[["row", "column"]].iloc[0]) == (2, 1) for frame in framed)


def test_a_term_that_a_side_lacks_is_told() -> None:
    with pytest.raises(LinkError, match="left side has no term context → position; it has: word → word"):
        FIGURES["compare_maps"].of({**DEFAULTS, "term": "context_to_position"}, both())


def both_layers(**changes: object) -> tuple:
    sides = text_probe.sides({**DEFAULTS, **changes})
    return tuple(text_probe.LayersRequest.of(side).run(embedded_loaded()) for side in sides)


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_every_layer_of_both_sides_is_that_of_each_alone(measure: str) -> None:
    values = {**DEFAULTS, "text2": "the cat sat .", "measure": measure, "term": "word_to_word"}
    made = both_layers(**values)
    maps = FIGURES["compare_layers"].of(values, made).frame()
    for side, run in zip(("left", "right"), made, strict=True):
        own = maps[maps.side == side].pivot(index="layer", columns="head", values="value").to_numpy()
        np.testing.assert_array_equal(own, run.values[:, run.terms.index("word_to_word")])
    difference = maps[maps.side == "right minus left"].pivot(index="layer", columns="head", values="value").to_numpy()
    one = text_probe.TermsRequest.of({**DEFAULTS, "layer": 2}).run(embedded_loaded())
    other = text_probe.TermsRequest.of({**DEFAULTS, "layer": 2, "text": "the cat sat ."}).run(embedded_loaded())
    expected = [getattr(run, f"{measure}s")()["word_to_word"] for run in (one, other)]
    np.testing.assert_allclose(difference[2], expected[1] - expected[0], atol=1e-5)
    lines = FIGURES["compare_depth"].of(values, made).frame().set_index(["side", "layer", "series"]).value
    assert lines["right minus left", 2, "word → word"] == pytest.approx((expected[1] - expected[0]).mean(), abs=1e-5)
    for name in ("compare_layers", "compare_depth"):
        drawn = panels(FIGURES[name].of(values, made))
        assert len(drawn) == 3


def _layers_of_peaks(figure: Figure) -> list[str]:
    """The layer of the largest value of each side, as the figure's rows have it."""
    rows = figure.frame().dropna(subset="value")
    if "head" in rows:
        rows = rows.astype({"layer": int})
    tops: list[Any] = [rows[rows.side == side].nlargest(1, "value").iloc[0] for side in ("left", "right")]
    return [str(top.layer) for top in tops]


def test_models_of_other_depths_have_no_difference() -> None:
    left = both_layers()[0]
    right = text_probe.LayersRequest(model="cpu-bert_a-0", text=TEXT).run()
    for name in ("compare_layers", "compare_depth"):
        figure = FIGURES[name].of(DEFAULTS, (left, right))
        assert set(figure.frame().side) == {"left", "right"}
        assert "cannot be subtracted" in figure.caption
        assert re.findall(r"layer (\d+)", figure.finding) == _layers_of_peaks(figure)
        assert len(panels(figure)) == 2
