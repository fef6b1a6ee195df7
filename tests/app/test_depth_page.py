"""The page Depth: each part shows its own figures, and a model that nothing is stored of is said."""

from functools import partial

import pytest

from tests.app import shown as reader
from tests.app.shown import figures

opened = partial(reader.opened, "depth")


@pytest.mark.parametrize(
    ("part", "titles"),
    [
        ("decoding", ["What can be read from the hidden states"]),
        (
            "order",
            ["What permuting the words does to the hidden states", "How far [CLS] and words attend"],
        ),
        ("basis", ["The position basis"]),
        ("terms", ["position → position in every head", "Layer 0, head 2: its terms", "The four terms against depth"]),
    ],
)
def test_each_part_shows_its_figures(part, titles):
    app = opened(part=part)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert figures(app) == titles


def test_two_models_are_shown_together():
    models = ["all-MiniLM-L6-v2", "cpu-bert_a-0"]
    app = opened(models=models)
    assert not app.exception
    assert app.multiselect[0].value == models


def test_a_term_of_the_link_is_shown():
    app = opened(part="terms", term="word_to_word", measure="effect")
    assert not app.exception
    assert "word → word in every head" in figures(app)


def test_a_model_of_the_link_that_is_not_stored_is_said():
    app = opened(models=["no such model"])
    assert not app.exception
    assert any("no such model" in warning.value for warning in app.warning)
    assert any("No model is chosen" in note.value for note in app.info)
