"""The pictures on the page Which encoding?: every part and picker renders, and what a link gets wrong is said."""

import pytest
from streamlit.testing.v1 import AppTest

from analysis.encodings import ENCODINGS
from analysis.figures.encodings import measures
from tests.app.shown import figures, opened, shown

HEADINGS = {
    "values": ["The table itself"],
    "distance": ["Similarity against distance"],
    "all": [measures.TITLE],
}


def fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


@pytest.mark.parametrize("part", HEADINGS)
def test_every_part(part):
    app = opened("choose", look=part)
    fine(app)
    assert figures(app) == HEADINGS[part]


@pytest.mark.parametrize(
    ("look", "name", "fold", "title"),
    [
        ("values", "encoding_movement", "How much each dimension moves", "How much each dimension moves"),
        ("values", "encoding_spectrum", "How fast the dimensions vary", "How fast the dimensions vary"),
        ("distance", "encoding_pairs", "Every pair of positions, in a map", "Every pair of positions"),
        (
            "distance",
            "encoding_shift",
            "Can one matrix shift every position?",
            "From a position to the one 8 further on",
        ),
        ("all", "encoding_other_measures", "Six measures more, in a table", "The other measures of all encodings"),
    ],
)
def test_the_last_figure_of_a_look_is_drawn_once_it_is_opened(look, name, fold, title):
    app = opened("choose", look=look)
    assert fold in [expander.label for expander in app.expander]
    app.session_state[f"choose.{name}.fold"] = True
    app.run()
    fine(app)
    assert figures(app) == [*HEADINGS[look], title]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_encoding_in_its_own_words(encoding):
    app = opened("choose", encoding=encoding, other="", look="distance")
    app.session_state["choose.sources.fold"] = True
    app.run()
    fine(app)
    assert any(ENCODINGS[encoding].summary in text.value for text in app.markdown)
    assert any(ENCODINGS[encoding].note in text.value for text in app.markdown)


@pytest.mark.parametrize(("length", "dim"), [("16", "16"), ("512", "512")])
def test_a_size_that_one_of_them_does_not_take_is_said_not_refused(length, dim):
    app = opened("choose", look="values", encoding_length=length, dim=dim, other="sincos_2d", encoding="learned")
    fine(app)
    assert any("Learned is not available at" in note.value for note in app.info)


def test_pickers_change_what_is_shown():
    app = opened("choose", look="distance")
    app.selectbox(key="choose.encoding").select("tensor2tensor")
    app.selectbox(key="choose.other").select("")
    app.run()
    fine(app)
    app.session_state["choose.encoding_shift.fold"] = True
    app.run()
    captions = " ".join(shown(caption.value) for caption in app.caption)
    assert "Sinusoidal, tensor2tensor: one matrix for every position" in captions
    assert "Learned" not in captions


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"encoding": "sinusoid"}, "'sinusoid'"),
        ({"other": "../../etc"}, "'../../etc'"),
        ({"encoding_length": "127"}, "127"),
        ({"dim": "-4"}, "-4"),
        ({"dim": "many"}, "dim='many'"),
        ({"look": "distance", "shift": "5"}, "shift 5"),
        ({"look": "distance", "compare": "euclid"}, "'euclid'"),
    ],
)
def test_a_bad_link_is_said_and_falls_back(parameters, said):
    app = opened("choose", **{"look": "values"} | parameters)
    assert not app.exception
    assert not app.error
    assert [said in shown(warning.value) for warning in app.warning] == [True]
    assert len(figures(app)) == len(HEADINGS[parameters.get("look", "values")])


@pytest.mark.parametrize("parameters", [{"shift": "99999"}, {"compare": "euclid"}])
def test_a_bad_value_of_another_part_does_no_harm(parameters):
    app = opened("choose", **{"look": "values"} | parameters)
    assert not app.exception
    assert not app.error
