"""The guided tour and the page Which encoding?: every step opens, Back and Next lead on, needs leave ways out."""

import pytest

from analysis.figures import FIGURES
from analysis.links import VIEWS
from analysis.narrative.answer.stored import answer
from analysis.narrative.reading import ordered
from dashboard.widgets.flipbook import draw_frame
from tests.app.shown import figures, opened

STEPS = ordered()


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_step_opens_with_its_text_its_chart_and_its_sentence(step):
    app = opened("read", step=step.name)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert app.header[0].value == step.title
    texts = [box.value for box in app.markdown]
    assert step.text in texts
    assert any(text.startswith(("**What the evidence says.**", "**Not measured yet.**")) for text in texts)
    boxes = [one for one in step.controls if not one.slides]
    assert len(app.selectbox) - 1 == len(boxes), "the first box is that of the steps"
    if boxes == list(step.controls):
        assert figures(app), "a chart has a title"
    else:
        assert any(text.startswith("**") for text in (box.value for box in app.caption)), "its caption says what it is"


def test_next_and_back_turn_the_pages():
    app = opened("read")
    assert app.header[0].value == STEPS[0].title
    assert [button.disabled for button in app.button if button.label == "Back"] == [True, True]
    for step in STEPS[1:3]:
        next(button for button in app.button if button.label == "Next").click()
        app.run()
        assert app.header[0].value == step.title
        assert app.query_params["step"] == step.name
    next(button for button in app.button if button.label == "Back").click()
    app.run()
    assert app.header[0].value == STEPS[1].title
    assert not app.exception


@pytest.mark.parametrize("step", [step for step in STEPS if step.controls[-1].slides], ids=lambda step: step.name)
def test_a_slider_has_a_picture_for_each_of_its_values(step):
    """Which the browser then shows: tests/browser/test_moving_pictures.py."""
    slider = step.controls[-1]
    values = VIEWS["read"].defaults()
    headings = set()
    for option in slider.options():
        request = {**VIEWS[step.page].defaults(), **step.params({**values, slider.field: option})}
        figure = FIGURES[step.figure].make(request)
        frame = draw_frame(slider.show(option), figure)
        assert frame.heading == figure.heading
        assert all(panel.startswith("<svg") for panel in frame.panels)
        headings.add((frame.heading, frame.panels))
    assert len(headings) == len(slider.options()), "no two values have the same picture"


def test_a_link_may_name_a_value_between_two_stops_and_none_beyond():
    assert not opened("read", step="orthogonal", dim="100").warning
    beyond = opened("read", step="orthogonal", dim="1000").warning
    assert "1000" in beyond[0].value


def test_a_step_that_is_none_is_said():
    app = opened("read", step="nowhere")
    assert not app.exception
    assert any("step 'nowhere'" in warning.value for warning in app.warning)
    assert app.header[0].value == STEPS[0].title


def test_needs_leave_ways_out():
    every = opened("choose")
    few = opened("choose", needs=["longer", "order"])
    assert not few.exception
    counts = [int(app.caption[-1].value.split()[0]) for app in (every, few)]
    assert counts[0] > counts[1] > 0


@pytest.mark.parametrize("part", ["needs", "cost", "length", "evidence"])
def test_every_part_of_choosing_opens(part):
    app = opened("choose", part=part)
    assert not app.exception
    assert not app.error


def test_a_need_that_is_none_is_said():
    app = opened("choose", needs=["speed"])
    assert not app.exception
    assert any("speed" in warning.value for warning in app.warning)


def test_a_preset_that_decides_nothing_is_said_and_the_judged_one_is_a_press_away():
    app = opened("choose", part="evidence")
    assert app.selectbox(key="choose.preset").value == "cpu", "an old link without a preset opens what it opened"
    assert not app.warning, "nothing is wrong with the link"
    assert any("decide nothing" in note.value for note in app.info)
    app.button[0].click().run()
    assert app.selectbox(key="choose.preset").value == "cpu2"
    assert not any("decide nothing" in note.value for note in app.info)
    assert "cpu2" in app.query_params["preset"]
    needs = opened("choose", part="needs")
    assert not any("decide nothing" in note.value for note in needs.info), "what a method needs comes from no training"


def test_the_last_step_concludes_from_the_answer():
    app = opened("read", step="open")
    told = " ".join(block.value for block in app.markdown)
    for name in ("algebra", "told_once"):
        assert next(one.bold or one.sentence for one in answer() if one.name == name).split(".")[0] in told
