"""The page Geometry: every part shows its figures under its card, folded ones open by a press, lacks are said."""

from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.links import VIEWS
from analysis.narrative.geometry import QUESTIONS
from tests.app import shown as reader
from tests.app.shown import figures

opened = partial(reader.opened, "geometry")
FIGURES = {
    "angles": ["How nearly orthogonal?"],
    "directions": ["Do words and positions use directions of their own?"],
    "subspaces": ["Do words and positions use separate directions?"],
    "ranks": ["How many directions words and positions use"],
    "heads": ["How heads divide their directions between word and position"],
    "states": ["Can word and position be read from every state?"],
    "words": ["How near each word comes to another word"],
}
FOLDED = {
    "angles": ["Mean absolute cosine against dimension"],
    "subspaces": ["Shared directions from layer to layer"],
    "ranks": ["Four ways of counting directions", "Do words stay out of the dimensions that positions use?"],
    "states": ["Can word and position be read from their sum?", "What position tables say about position and order"],
    "words": [
        "Does adding a position turn one word into another?",
        "Do the sums of different words and positions meet?",
    ],
}
LABELS = {
    **FOLDED,
    "states": ["Six decoders on artificial texts", "What position tables say about position and order"],
    "words": ["Does adding a position turn one word into another?", "How near do two sums come to each other?"],
}
"""The words on their folds."""
NAMES = {
    "angles": ["geometry_dimension"],
    "subspaces": ["geometry_layers"],
    "ranks": ["geometry_ranks", "geometry_energies"],
    "states": ["geometry_decoded", "geometry_order"],
    "words": ["geometry_kept", "geometry_collisions"],
}
"""The figures that are folded."""


def folds(app: AppTest) -> list[Any]:
    return [fold for fold in app.expander if fold.label in {title for part in LABELS.values() for title in part}]


@pytest.mark.parametrize("part", FIGURES)
def test_each_part_shows_its_figures_and_those_that_are_folded_once_they_are_opened(part: str) -> None:
    app = opened(part=part)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert figures(app) == FIGURES[part]
    assert len(FIGURES[part]) <= 2
    assert [fold.label for fold in folds(app)] == LABELS.get(part, [])
    for name in NAMES.get(part, []):
        app.session_state[f"geometry.{name}.fold"] = True
    app.run()
    assert not app.exception
    assert figures(app) == FIGURES[part] + FOLDED.get(part, [])


def test_every_figure_of_the_page_is_in_one_part() -> None:
    titles = [title for shown in (FIGURES, FOLDED) for part in shown.values() for title in part]
    assert len(set(titles)) == len(titles) == len(VIEWS["geometry"].figures)


def test_every_card_is_a_part() -> None:
    assert set(QUESTIONS) <= set(FIGURES)
    assert "angles" in QUESTIONS


@pytest.mark.parametrize(
    ("model", "named", "part", "command"),
    [
        ("cpu2-bert_a-10", "Added once, seed 10", "states", "measure decoding"),
        ("all-mpnet-base-v2", "all-mpnet-base-v2", "heads", ""),
    ],
)
def test_a_model_without_results_links_models_that_have_them(model: str, named: str, part: str, command: str) -> None:
    """In place of a command alone, which stands in a fold, and only where it would help."""
    app = opened(model=model, part=part)
    assert not app.exception
    said = app.info[0].value.replace("\\", "")
    assert named in said
    assert "python -m" not in said
    commands = [code.value for code in app.code if code.value.startswith("python -m analysis")]
    assert [command in one for one in commands] == ([True] if command else [])
    others = [button for button in app.button if str(button.key).startswith("geometry.jump.")]
    assert len(others) > 1
    shown = others[0].click().run()
    assert figures(shown) == FIGURES[part]
    assert shown.query_params["part"] == part
    assert "model" not in shown.query_params, "the usual model, which no address names"


def test_the_slider_moves_the_random_vectors() -> None:
    app = opened(part="angles", dim="12")
    assert not app.exception
    assert any("Two random vectors of 12 dimensions" in caption.value for caption in app.caption)


def test_a_word_is_picked() -> None:
    app = opened(part="words")
    word = app.selectbox(key="geometry.word").options[5]
    app.selectbox(key="geometry.word").select(word).run()
    assert not app.exception
    assert any(f"“{word}”: position" in caption.value.replace("\\", "") for caption in app.caption)


def test_a_model_without_positions_says_what_it_lacks() -> None:
    assert "No position, seed 0" in opened().selectbox(key="geometry.model").options
    app = opened(model="cpu-no_position-0", part="subspaces")
    assert not app.exception
    assert any("not added to one another" in note.value for note in app.info)


def test_an_address_is_cleared_once_every_field_is_the_usual_one_again() -> None:
    app = opened(model="all-mpnet-base-v2")
    app.selectbox(key="geometry.model").set_value("all-MiniLM-L6-v2").run()
    assert not app.query_params


def test_a_model_that_adds_no_positions_opens_at_what_it_can_be_asked() -> None:
    """Its table of positions is told to attention: the page says that nothing is added, and no name of a column."""
    app = opened(model="cpu-bert_a_d-0-e0c352e09e76")
    assert not app.exception
    assert "Can word and position be read from every state?" in " ".join(figures(app))
    told = opened(model="cpu-bert_a_d-0-e0c352e09e76", part="subspaces")
    words = " ".join(one.value for one in [*told.info, *told.markdown, *told.caption])
    assert "its words and positions are not added" in words
    assert "abs cosine" not in words
    assert "it has no table of positions" not in words
