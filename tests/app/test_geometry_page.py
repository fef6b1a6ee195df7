"""The page Geometry: each part shows its own figures, of a stored model; what a model lacks is said."""

from functools import partial

import pytest

from tests.app import shown as reader
from tests.app.shown import figures

opened = partial(reader.opened, "geometry")
FIGURES = {
    "angles": ["How nearly orthogonal?", "|Cosine| against dimension"],
    "subspaces": ["Do words and positions use separate directions?", "Shared directions from layer to layer"],
    "ranks": [
        "How many directions words and positions use",
        "Ranks",
        "Do words stay out of the dimensions that positions use?",
    ],
    "heads": ["How heads divide their directions between word and position"],
    "words": ["Does adding a position turn one word into another?", "How near each word comes to another word"],
    "collisions": ["Do the sums of different words and positions meet?"],
    "read": ["Can word and position be read from their sum?", "What position tables say about position and order"],
}


@pytest.mark.parametrize("part", FIGURES)
def test_each_part_shows_its_figures(part):
    app = opened(part=part)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert figures(app) == FIGURES[part]


def test_the_slider_moves_the_random_vectors():
    app = opened(part="angles", dim="12")
    assert not app.exception
    assert any("Two random vectors of 12 dimensions" in caption.value for caption in app.caption)


def test_a_word_is_picked():
    app = opened(part="words")
    word = app.selectbox(key="geometry.word").options[5]
    app.selectbox(key="geometry.word").select(word).run()
    assert not app.exception
    assert any(f"“{word}”: position" in caption.value.replace("\\", "") for caption in app.caption)


def test_a_model_without_positions_says_what_it_lacks():
    assert "No position, seed 0" in opened().selectbox(key="geometry.model").options
    app = opened(model="cpu-no_position-0", part="subspaces")
    assert not app.exception
    assert any("not added to one another" in note.value for note in app.info)
