"""The guided tour and the page Which encoding?: every picture of every step opens, and Next leads on."""

import json
import re
from collections import Counter
from html import escape, unescape

import pytest

from analysis.core.formatting import unbroken
from analysis.figures import FIGURES
from analysis.links import VIEWS
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading import ordered, still_open
from analysis.narrative.reading.told import QUESTIONS
from dashboard.widgets.flipbook import NARROW, SCALE, columns_in, draw_frame
from tests.app.shown import figures, opened, shown

STEPS = ordered()


PICTURES = [pytest.param(step, one, id=f"{step.name}-{one.name or 'first'}") for step in STEPS for one in step.pictures]


@pytest.mark.parametrize(("step", "one"), PICTURES)
def test_every_picture_opens_with_its_step_its_chart_and_its_sentence(step, one):
    app = opened("read", step=step.name, part=one.name)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert app.query_params.get("part", "") == one.name
    assert f"{step.place}. {step.title}" in [header.value for header in app.header]
    texts = [box.value for box in app.markdown]
    assert step.text in texts
    assert any(text.startswith(("**What the evidence says.**", "**Not measured yet.**")) for text in texts)
    values = VIEWS["read"].defaults() | {"part": one.name}
    boxes = [control for control in one.controls if not control.slides and control.when(values)]
    assert len(app.selectbox) == len(boxes)
    if not one.controls[-1].slides:
        assert figures(app), "a chart has a title"
    else:
        assert any(text.startswith("**") for text in (box.value for box in app.caption)), "its caption says what it is"


def title(app):
    return next(header.value for header in app.header if header.value.split(".")[0].isdecimal())


def press(app, label):
    next(button for button in app.button if button.label == label).click()
    app.run()


def test_next_and_the_numbers_turn_the_pages():
    app = opened("read")
    assert title(app).endswith(STEPS[0].title)
    for step in STEPS[1:3]:
        press(app, "Next")
        assert title(app).endswith(step.title)
        assert app.query_params["step"] == step.name
    app.segmented_control(key="read.step").set_value(STEPS[1].name)
    app.run()
    assert title(app).endswith(STEPS[1].title)
    press(app, f"3. {STEPS[2].title}")
    assert title(app).endswith(STEPS[2].title)
    assert not app.exception


def test_a_new_step_begins_with_its_first_picture():
    app = opened("read", step="questions", part="layers")
    press(app, "Next")
    assert title(app).endswith(STEPS[7].title)
    assert "part" not in app.query_params
    assert not app.warning
    last = opened("read", step=STEPS[-1].name)
    assert not [button for button in last.button if button.label == "Next"]
    ways = [link for link in last.get("page_link") if link.proto.label == "The answer in full"]
    assert len(ways) == 2, "beside the numbers of the steps, and at the end of the page"


@pytest.mark.parametrize(("step", "one"), [one for one in PICTURES if one.values[1].controls[-1].slides])
def test_a_slider_has_a_picture_for_each_of_its_values(step, one):
    """Which the browser then shows: tests/browser/test_moving_pictures.py."""
    slider = one.controls[-1]
    values = VIEWS["read"].defaults()
    headings = set()
    for option in slider.options():
        request = {**VIEWS[one.page].defaults(), **one.params({**values, slider.field: option})}
        figure = FIGURES[one.figure].make(request)
        frame = draw_frame(slider.show(option), figure, 600)
        assert frame.heading == unbroken(figure.heading)
        assert all(panel.startswith("<svg") for panel in frame.panels)
        headings.add((frame.heading, frame.panels))
    assert len(headings) == len(slider.options()), "no two values have the same picture"


@pytest.mark.parametrize("width", [340, 580, 800])
@pytest.mark.parametrize("step", ["cut", "concatenation", "sum", "order"])
def test_a_picture_is_drawn_for_the_width_that_it_has(step, width):
    """So letters keep their size on a phone."""
    [one, *_] = next(found.pictures for found in STEPS if found.name == step)
    figure = FIGURES[one.figure].make(VIEWS["read"].defaults())
    frame = draw_frame("", figure, width)
    assert frame.columns == (columns_in(figure, width))
    for panel in frame.panels:
        drawn = float(re.search(r'viewBox="0 0 ([\d.]+)', panel)[1])
        assert drawn * SCALE * frame.columns <= width + 1
        assert drawn * SCALE * frame.columns > 0.9 * (width - 20)


@pytest.mark.parametrize(("width", "tallest"), [(340, 320), (640, 640)])
@pytest.mark.parametrize("step", ["objection", "orthogonal", "cut", "saving"])
def test_a_picture_that_stands_alone_is_as_tall_as_its_place_allows(step, width, tallest):
    """It fills a wide page, and on a phone it is seen whole."""
    [one] = next(found.pictures for found in STEPS if found.name == step)
    frame = draw_frame("", FIGURES[one.figure].make(VIEWS["read"].defaults()), width)
    height = sum(float(re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)', panel)[1]) for panel in frame.panels)
    assert 0.75 * width < height * SCALE < 1.5 * tallest


def test_the_axes_of_the_plane_have_one_scale():
    """Else an angle would look like another one."""
    figure = FIGURES["reading_plane"].make({"angle": 90})
    for width in (340, 640):
        plane = draw_frame("", figure, width).panels[0]
        at = re.findall(r'transform="translate\(([\d.]+),([\d.]+)\)" d="M[^"]*A', plane)
        # Signs of the legend stand at other places, and there are few of them.
        rows, columns = (Counter(round(float(one[axis])) for one in at) for axis in (1, 0))
        across, down = ([place for place, count in counts.items() if count >= 8] for counts in (columns, rows))
        assert len(across) == len(down) == 8
        assert (max(across) - min(across)) / (max(down) - min(down)) == pytest.approx(1, abs=0.06)


def test_the_questions_of_step_9_are_bold_and_the_first_page_s_rows_may_be_exchanged_for_all():
    app = opened("read", step="told")
    [box] = [one.value for one in app.markdown if one.value.startswith("**What the evidence says.**")]
    for question in QUESTIONS:
        assert f"**{question}**" in box
    assert [one.label for one in app.selectbox] == ["Rows"]
    app.selectbox(key="read.rows").set_value("all").run()
    assert [one.label for one in app.selectbox] == ["Rows", "Mark"]
    assert app.query_params["rows"] == "all"


def test_the_first_picture_fits_a_phone_before_its_width_is_known():
    components = [
        json.loads(json.loads(mounted.proto.json)["json"])
        for mounted in opened("read", step="concatenation").get("bidi_component")
    ]
    [narrow] = [data["narrow"] for data in components if "narrow" in data]
    assert narrow["columns"] == 1
    assert len(narrow["panels"]) == 2
    for panel in narrow["panels"]:
        assert float(re.search(r'viewBox="0 0 ([\d.]+)', panel)[1]) * SCALE <= NARROW


def test_the_self_check_asks_six_questions_and_leads_back():
    app = opened("read", step=STEPS[-1].name)
    components = [json.loads(json.loads(mounted.proto.json)["json"]) for mounted in app.get("bidi_component")]
    [asked] = [data["checks"] for data in components if "checks" in data]
    assert len(asked) == 6
    for check in asked:
        assert 0 <= check["right"] < len(check["options"])
        assert len(set(check["options"])) == len(check["options"])
        assert check["address"].endswith(f"/read?step={check['step']}")
    assert not [data for app in [opened("read")] for data in app.get("bidi_component") if "checks" in data.proto.json]


def test_a_step_that_has_moved_opens_the_page_that_shows_what_it_showed():
    app = opened("read", step="untying", leave="rte")
    assert not app.exception
    assert app.title[0].value == VIEWS["experiments"].title
    assert app.session_state["experiments.published_without"] == ["rte"]
    assert "published_average" in VIEWS["experiments"].figures


def test_a_link_may_name_a_value_between_two_stops_and_none_beyond():
    assert not opened("read", step="orthogonal", dim="100").warning
    beyond = opened("read", step="orthogonal", dim="1000").warning
    assert "1000" in beyond[0].value


def test_a_step_that_is_none_is_said():
    app = opened("read", step="nowhere")
    assert not app.exception
    assert any("step 'nowhere'" in warning.value for warning in app.warning)
    assert title(app).endswith(STEPS[0].title)


def test_a_step_may_be_named_by_the_number_on_its_button():
    for number in (1, 3, len(STEPS)):
        app = opened("read", step=str(number))
        assert not app.exception
        assert not app.warning
        assert title(app).endswith(STEPS[number - 1].title)
    assert any(
        f"step '{len(STEPS) + 1}'" in warning.value for warning in opened("read", step=str(len(STEPS) + 1)).warning
    )


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
    told = shown(" ".join(block.value for block in app.markdown))
    assert next(one.bold for one in answer() if one.name == "lead") in told


def test_the_last_step_lists_open_statements_with_their_experiments():
    [listed] = [block.value for block in opened("read", step="open").html if 'class="experiments"' in block.value]
    experiments = still_open.experiments()
    assert listed.count("<li>") == len(experiments)
    for one in experiments:
        assert f"statement={one.statement.id}" in listed
        assert escape(unbroken(one.statement.would_decide)) in listed
    rule = re.search(r"<details><summary>How they are chosen</summary>(.*?)</details>", listed)
    assert rule
    assert unescape(rule[1]) == still_open.RULE, "the rule is one press away"
    assert not [block for block in opened("read").html if 'class="experiments"' in block.value]
