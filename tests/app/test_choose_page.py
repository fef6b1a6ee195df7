"""The page Which encoding?: rows open, needs sort, sizes count, and the facts with their sources are one press away."""

from functools import partial
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from analysis.figures.encodings.overview import has_pictures
from analysis.narrative.choosing import NEEDS, PARTS, board
from analysis.narrative.choosing.board import VARIANT_NAMES, form_of
from analysis.narrative.choosing.settings import IN_USE
from analysis.narrative.choosing.sizes import ModelSize
from tests.app import shown as reader
from tests.app.shown import figures

opened = partial(reader.opened, "choose")


def fine(app: AppTest) -> None:
    assert not app.exception
    assert not app.error
    assert not app.warning


def facts(app: AppTest) -> list[str]:
    return [block.value for block in app.get("html") if "class='choosing'" in block.value]


def test_it_opens_with_every_row_closed_and_the_facts_folded() -> None:
    app = opened()
    fine(app)
    assert figures(app) == []
    assert facts(app) == []
    assert any("11 methods" in text.value for text in app.markdown)


def test_an_unknown_preset_is_told_while_the_facts_are_folded() -> None:
    app = opened(preset="nonsense")
    assert [warning.value for warning in app.warning if "nonsense" in warning.value]
    assert facts(app) == []


@pytest.mark.parametrize("row", VARIANT_NAMES)
def test_a_row_opens_its_pictures_and_its_configuration(row: str) -> None:
    app = opened(row=row)
    fine(app)
    assert len(figures(app)) == has_pictures(row), "of no table, or of random numbers, there is nothing to draw"
    code = " ".join(block.value for block in app.code)
    usual = IN_USE[row].call(ModelSize().length, decoder=False) if row in IN_USE else ""
    assert (form_of(row).code or form_of(row).config or usual).strip() in code
    assert code


def test_needs_are_in_the_address_and_answered() -> None:
    app = opened(needs=["longer", "order"])
    fine(app)
    assert any("of 11 methods can do it" in text.value for text in app.markdown)


def test_a_need_that_all_methods_meet_is_valid_in_a_link_and_not_offered() -> None:
    hidden = set(NEEDS) - set(board.deciding_needs())
    app = opened(needs=[*hidden, "longer"])
    fine(app)
    (buttons,) = [group for group in app.button_group if group.label == "I need"]
    assert list(buttons.options) == [NEEDS[name].title for name in board.deciding_needs()]
    assert set(app.session_state["choose.needs"]) == {*hidden, "longer"}


@pytest.mark.parametrize("part", [part for part in PARTS if part != "needs"])
def test_an_old_link_opens_the_facts_that_it_showed(part: str) -> None:
    app = opened(part=part)
    fine(app)
    (table,) = facts(app)
    assert all(title in table for title in PARTS[part].values())


def test_a_size_of_ones_own_is_offered() -> None:
    app = opened(width="1000", layers="7", heads="10", length="777", row="bert_a")
    fine(app)
    assert any("777,000 parameters" in text.value for text in app.markdown)


@pytest.mark.parametrize(("parameters", "said"), [({"row": "made-up"}, "'made-up'"), ({"width": "-3"}, "-3")])
def test_a_bad_link_is_said(parameters: dict[str, Any], said: str) -> None:
    app = opened(**parameters)
    assert not app.exception
    assert [said in reader.shown(warning.value) for warning in app.warning] == [True]
