"""Proves that two at once are the two as they are alone, and the difference right less left."""

import numpy as np
import pytest
from drawn_values import colour_limits, drawn_maps
from specimens import TEXT, embedded_loaded

from analysis.core.errors import LinkError
from analysis.figures import FIGURES
from analysis.figures.drawing import panels
from analysis.links import VIEWS
from analysis.probes import text_probe

DEFAULTS = {**VIEWS["compare"].defaults(), "text": TEXT}


def both(**changes: object) -> tuple:
    sides = text_probe.sides({**DEFAULTS, **changes})
    return tuple(text_probe.TermsRequest.of(side).run(embedded_loaded()) for side in sides)


def test_a_side_that_names_nothing_takes_the_others_model_and_text() -> None:
    left, right = text_probe.sides({**DEFAULTS, "pair": "a dog ran ."})
    assert (right["model"], right["text"], right["pair"]) == (left["model"], TEXT, "a dog ran .")
    assert (left["layer"], right["layer"]) == (0, 5)
    _, right = text_probe.sides({**DEFAULTS, "pair": "a dog ran .", "text2": "the cat"})
    assert (right["text"], right["pair"]) == ("the cat", "")


def test_maps_and_difference_are_on_one_scale() -> None:
    made = both(head2=3)
    figure = FIGURES["compare_maps"].of({**DEFAULTS, "head2": 3, "centred": False}, made)
    expected = made[1].terms_of("position_to_position", 3) - made[0].terms_of("position_to_position", 0)
    maps = drawn_maps(figure)
    assert len(maps) == 3
    np.testing.assert_allclose(maps[2], expected, atol=1e-5)
    assert colour_limits(figure) == [pytest.approx(max(np.abs(one.to_numpy()).max() for one in maps))] * 3
    assert "layer 5, head 3" in figure.caption


def test_texts_of_different_lengths_have_no_difference_map_but_terms() -> None:
    made = both(text2="the cat sat .")
    maps = FIGURES["compare_maps"].of({**DEFAULTS, "text2": "the cat sat ."}, made)
    assert set(maps.frame()["map"]) == {"left", "right"}
    assert len(panels(maps)) == 2
    assert f"{len(made[0].tokens)} and {len(made[1].tokens)} tokens" in maps.caption
    table = FIGURES["compare_terms"].of(DEFAULTS, made).frame().set_index("term")
    shares = [side.shares()["word_to_word"].mean() for side in made]
    assert table.difference["word_to_word"] == pytest.approx(shares[1] - shares[0], abs=1e-6)


def test_a_term_that_a_side_lacks_is_told() -> None:
    with pytest.raises(LinkError, match="left side has no term context → position; it has: word → word"):
        FIGURES["compare_maps"].of({**DEFAULTS, "term": "context_to_position"}, both())
