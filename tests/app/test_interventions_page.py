"""The interventions page: what a link asks for is done and said, and what cannot be done gets a sentence."""

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.shown import figures, opened, shown


def texts(app: AppTest) -> str:
    return shown(" ".join(str(element.value) for element in app.caption))


def test_positions_are_off_as_it_opens_and_the_test_is_one_click_away():
    app = opened("interventions")
    assert not app.exception
    assert "Intervention: zero positions" in texts(app)
    assert "permutes the output and does nothing else" not in texts(app)
    app.toggle[0].set_value(True).run()
    assert not app.exception
    assert "permutes the output and does nothing else, up to rounding" in texts(app)
    assert app.query_params["permute"] == "1"


def test_a_link_brings_its_interventions_their_strengths_and_its_map():
    app = opened(
        "interventions", do=["shift_positions", "drop_terms"], by="5", terms="word_to_word", layers="3", head="7"
    )
    assert not app.exception
    assert not app.warning
    assert "Intervention: positions shifted by 5; word → word dropped, layer 3" in texts(app)
    assert "Layer 0, head 7" in figures(app)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"do": "drop_terms", "layers": "9"}, "There is no layer 9"),
        ({"do": "drop_terms", "layers": "first"}, "expected terms, layers and heads"),
        ({"do": "drop_terms", "terms": "score_bias"}, "adds no score bias to its scores"),
        ({"text": "word " * 600}, "Shorten it, or have it cut to 512"),
        ({"layer": "17"}, "There is no layer 17"),
    ],
)
def test_what_cannot_be_done_is_said(asked, said):
    app = opened("interventions", **asked)
    assert not app.exception
    assert said in shown(" ".join(error.value for error in app.error))


def test_an_unknown_intervention_in_a_link_is_left_aside():
    app = opened("interventions", do="teleport")
    assert not app.exception
    assert "'teleport'" in " ".join(warning.value for warning in app.warning)
    assert "Intervention: nothing changed" in texts(app)
