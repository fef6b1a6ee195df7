"""Look inside: one form, its tabs, and the state that its controls show after an error and for every kind of model."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from transformers import LlamaConfig, LlamaModel

from analysis.core import default_model
from analysis.links import VIEWS
from dashboard.widgets.inside.form import EXAMPLES
from tests.app.shown import figures, opened, press, shown
from tests.unit.specimens import tiny_tokenizer

TABS = {
    "layers": ["Against depth"],
    "positions": ["Every head against distance", "Head 2, scores against distance"],
    "change": ["How far the output moves"],
}
PAIR = dict(zip(("text", "pair"), EXAMPLES["order alone differs"], strict=True))


def board(app: AppTest) -> dict[str, Any]:
    """The numbers that the tab Scores sends to the browser."""
    for element in app.get("bidi_component"):
        if element.proto.component_name.endswith("score_maps"):
            return json.loads(json.loads(element.proto.json)["json"])
    raise AssertionError("no maps of scores on this page")


def complaints(app: AppTest) -> list[str]:
    return [shown(box.value) for box in (*app.exception, *app.error, *app.warning)]


def captions(app: AppTest) -> str:
    """The lines under figures, and the methods that are printed on paper."""
    method = " ".join(str(block.value) for block in app.get("html"))
    return shown(" ".join(str(element.value) for element in app.caption)) + unescape(method)


def controls(app: AppTest) -> list[tuple[str, Any]]:
    """Every control with its value, but those of the form."""
    kinds: tuple[Any, ...] = (app.toggle, app.segmented_control, app.select_slider, app.selectbox)
    return [(str(box.key), box.value) for kind in kinds for box in kind]


def send(app: AppTest, text: str) -> AppTest:
    next(area for area in app.text_area if area.label == "Text").input(text)
    return press(app, "Take apart")


@pytest.mark.parametrize("tab", TABS)
def test_a_tab_of_a_link_shows_its_first_figure(tab: str) -> None:
    app = opened("inside", tab=tab)
    assert complaints(app) == []
    assert figures(app) == TABS[tab]
    assert app.query_params["tab"] == tab


def test_it_opens_on_the_head_that_goes_most_by_position() -> None:
    app = opened("inside")
    assert complaints(app) == []
    data = board(app)
    assert (data["layer"], data["head"]) == (0, 2)
    shares = data["shares"][3]
    assert shares[2] == max(shares)
    assert dict(app.query_params) == {}
    outlined = data["maps"]["2"]["open"]
    app.segmented_control(key="inside.look.chosen").set_value("cell").run()
    assert complaints(app) == []
    query, key = (f"{index} “{data['tokens'][index]}”" for index in outlined)
    assert figures(app) == [f"Head 2, query {query} on key {key}"]


@pytest.mark.parametrize(
    "link",
    [
        {"centred": "0", "group": "all", "words": "1"},
        {"tab": "layers", "look": "layers", "measure": "effect", "term": "word_to_word"},
        {"tab": "positions", "look": "distance", "layer": "2", "head": "5"},
        {"tab": "change", "look": "heads", "do": "shift_positions", "by": "4", "layer": "3"},
        {"tab": "similarity", "pooling": "first", **PAIR},
        {"text2": "The dog sat.", "layer2": "3", "term": "word_to_word", "look": "terms", "measure": "effect"},
    ],
    ids=lambda link: link.get("tab", "compared" if "text2" in link else "scores"),
)
def test_after_an_error_every_control_shows_what_is_computed(link: dict[str, str]) -> None:
    """Widgets that the page of an error does not draw lose their state in Streamlit; the page's own state stays."""
    app = send(opened("inside", **link), "Sums keep their parts.")
    assert complaints(app) == []
    before, drawn = controls(app), figures(app)
    assert len(before) >= 5
    app = send(app, " ")
    assert any("The text is empty" in text for text in complaints(app))
    app = send(app, "Sums keep their parts.")
    assert complaints(app) == []
    assert controls(app) == before
    assert figures(app) == drawn
    for name, value in link.items():
        if name != "text":
            held = app.session_state[f"inside.{name}"]
            expected = VIEWS["inside"].parse({name: [value]})[0][name]
            assert (tuple(held) if isinstance(held, list) else held) == expected
    if "group" in link:
        data = board(app)
        assert (data["centred"], data["terms"]) == (False, len(data["parts"]))
        assert data["terms"] > 4


def test_examples_stay_where_a_text_cannot_be_taken_apart() -> None:
    app = opened("inside", text=" ")
    assert any("The text is empty" in text for text in complaints(app))
    app.pills(key="inside.examples").set_value("agreement").run()
    assert complaints(app) == []
    assert board(app)["tokens"][1:3] == ["the", "keys"]


def test_an_example_fills_the_form_and_a_side_of_a_pair_is_read() -> None:
    app = opened("inside")
    app.pills(key="inside.examples").set_value("order alone differs").run()
    assert complaints(app) == []
    assert board(app)["tokens"] == ["[CLS]", "the", "dog", "chased", "the", "cat", ".", "[SEP]"]
    app.segmented_control(key="inside.side").set_value("second").run()
    assert board(app)["tokens"][2] == "cat"
    app.segmented_control(key="inside.side").set_value("together").run()
    assert len(board(app)["tokens"]) == 15
    app.segmented_control(key="inside.tab.chosen").set_value("similarity").run()
    assert complaints(app) == []
    assert figures(app) == ["The cosine as a sum over sources", "The cosine as a sum over pairs of tokens"]
    assert "Outlined: “chased” with “chased”" in captions(app)


def test_positions_are_changed_from_the_form() -> None:
    app = opened("inside")
    app.pills(key="inside.changes").set_value("shuffle_positions").run()
    assert complaints(app) == []
    assert figures(app) == ["How far the output moves"]
    assert app.session_state["inside.do"] == ("shuffle_positions",)
    app.pills(key="inside.changes").set_value(None).run()
    assert board(app)["layer"] == 0


def test_similarity_opens_with_an_example_and_asks_for_a_second_text_beside_a_readers_own() -> None:
    app = opened("inside", tab="similarity")
    assert complaints(app) == []
    assert len(figures(app)) == 2
    assert app.session_state["inside.pair"] == PAIR["pair"]
    app = opened("inside", tab="similarity", text="A text of my own.")
    assert complaints(app) == []
    assert figures(app) == []
    app = press(app, "Example: order alone differs")
    assert len(figures(app)) == 2


def test_what_is_pressed_is_shown_as_papers_print_it() -> None:
    app = opened("inside", look="cell", layer="1", head="3", query="2", key="4")
    assert complaints(app) == []
    assert figures(app) == ["Head 3, query 2 “keys” on key 4 “the”"]
    at = board(app)["at"]
    assert (at["layer"], at["head"], at["query"], at["key"]) == (1, 3, 2, 4)
    for name, value in (("head", "99"), ("query", "77"), ("also", "x")):
        app = opened("inside", **{name: value})
        assert not app.exception
        assert name == "also" or f"asks for {name} {value}, which is not offered here" in complaints(app)[0]


@pytest.mark.parametrize(
    ("look", "titles"),
    [
        ("decoding", ["What can be read from the hidden states"]),
        ("order", ["What permuting the words does to the hidden states", "How far [CLS] and words attend"]),
        ("basis", ["The position basis"]),
        ("heads", ["position → position in every head", "Layer 0, head 2: its terms"]),
        ("terms", ["The four terms against depth"]),
    ],
)
def test_many_texts_are_followed_through_the_layers(look: str, titles: list[str]) -> None:
    app = opened("inside", tab="layers", over="corpus", look=look)
    assert complaints(app) == []
    assert figures(app) == titles


def test_many_texts_stand_beside_this_one_and_a_model_that_was_not_measured_is_said() -> None:
    app = opened("inside")
    app.segmented_control(key="inside.over.chosen").set_value("corpus").run()
    assert complaints(app) == []
    assert figures(app) == ["Every head at layer 0, over 365 texts", "Over all heads, two ways"]
    app.selectbox(key="inside.measured").set_value("cpu-bert_a-0").run()
    assert complaints(app) == []
    assert app.session_state["inside.model"] == "cpu-bert_a-0"
    assert figures(app)[0].startswith("Every head at layer 0, over ")
    app = opened("inside", over="corpus", model="no/such-model")
    assert not app.exception
    assert any("was not measured over many texts" in shown(box.value) for box in app.info)
    models = ["all-MiniLM-L6-v2", "cpu-bert_a-0"]
    app = opened("inside", tab="layers", over="corpus", look="decoding", models=models)
    assert complaints(app) == []
    assert app.multiselect[0].value == models
    app = opened("inside", tab="layers", over="corpus", look="decoding", models=["no such model"])
    assert any("no such model" in text for text in complaints(app))
    assert any("No model is chosen" in note.value for note in app.info)


def test_two_sides_are_compared_by_what_is_pressed_and_the_other_tabs_say_so() -> None:
    app = opened("inside")
    board_head = board(app)["head"]
    app.pills(key="inside.compared").set_value(["layer or head"]).run()
    assert complaints(app) == []
    assert app.session_state["inside.layer2"] == -1
    assert app.session_state["inside.head2"] not in (-1, board_head), "another head of the same layer"
    heading = shown(app.header[0].value)
    assert re.search(r"makes up \d+ % of what varies on the left and \d+ % on the right$", heading)
    assert figures(app) == ["position → position, side by side"]
    app.segmented_control(key="inside.look.chosen").set_value("cell").run()
    # The right head is much the weaker one, so that the cell is the one where it is strongest.
    assert figures(app) == ["position → position, side by side", "Query 0 on key 0, term by term"]
    assert any(box.key == "inside.layer" for box in app.select_slider), "the left side's layer can be chosen"
    app.pills(key="inside.compared").set_value(["text", "method"]).run()
    assert complaints(app) == []
    assert app.session_state["inside.head2"] == -1
    next(area for area in app.text_area if area.label == "Text on the right").input("the cat sat .")
    press(app, "Take apart")
    said = [shown(one.value) for one in app.markdown]
    assert any("The sides differ in the text and method (frozen and mean)." in text for text in said)
    app.segmented_control(key="inside.tab.chosen").set_value("layers").run()
    assert complaints(app) == []
    assert figures(app) == ["Against depth, side by side"]
    app.segmented_control(key="inside.look.chosen").set_value("layers").run()
    assert figures(app) == ["position → position at every layer and head, side by side"]
    app.segmented_control(key="inside.tab.chosen").set_value("change").run()
    assert "this tab shows the left one" in captions(app)
    app.segmented_control(key="inside.tab.chosen").set_value("scores").run()
    app.pills(key="inside.compared").set_value([]).run()
    assert board(app)["layer"] == 0
    assert app.session_state["inside.text2"] == ""


def test_a_side_that_cannot_be_run_is_said() -> None:
    app = opened("inside", model2="no/such-model-anywhere")
    assert not app.exception
    assert app.error or app.info
    assert "Use method frozen" not in {button.label for button in app.button}, "neither method nor layer failed"
    app = press(app, "Compare no other model")
    assert complaints(app) == []
    app = press(opened("inside", model="no/such-model-anywhere"), f"Use {default_model.NAME}")
    assert complaints(app) == []
    app = opened("inside", layer2="77")
    assert "There is no layer 77" in " ".join(complaints(app))
    app = press(app, "Use layer 0")
    assert complaints(app) == []


@pytest.mark.parametrize(
    "link", [{}, {"tab": "positions"}, {"tab": "change"}, {"image": "scene", "model": "tiny-random-vit"}]
)
def test_a_revision_of_a_model_that_has_only_one_is_refused(link: dict[str, str]) -> None:
    app = opened("inside", revision="v2", **link)
    assert any("There is no revision 'v2' of" in text for text in complaints(app))


@pytest.fixture
def llama(tmp_path: Path) -> str:
    """A model that rotates queries and keys."""
    sizes: dict[str, Any] = {
        "hidden_size": 32,
        "num_attention_heads": 4,
        "num_hidden_layers": 2,
        "intermediate_size": 24,
    }
    LlamaModel(LlamaConfig(vocab_size=25, max_position_embeddings=64, **sizes)).eval().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    return str(tmp_path)


def test_a_model_that_rotates_opens_on_positions_and_has_no_page_of_flat_lines(llama: str) -> None:
    app = opened("inside", model=llama, text="the cat sat on the mat .")
    assert complaints(app) == []
    assert figures(app) == ["What each layer's scores depend on"]
    app.segmented_control(key="inside.look.chosen").set_value("distance").run()
    assert figures(app) == ["The mean score at each distance"]
    app.segmented_control(key="inside.tab.chosen").set_value("scores").run()
    assert any("rotates its queries and keys" in box.value for box in app.info)
    assert figures(app) == []
    assert not [one for one in app.get("bidi_component") if one.proto.component_name.endswith("score_maps")]
    app = press(app, "Change its positions")
    assert complaints(app) == []
    assert app.session_state["inside.text"] == "the cat sat on the mat ."
    assert figures(app) == ["How far the output moves"]


def test_a_stored_map_is_pressed_only_while_it_is_shown(llama: str) -> None:
    app = opened("positions")
    assert complaints(app) == []
    assert app.pills(key="inside.stored_maps").value == "all-MiniLM-L6-v2"
    assert "; stored;" in captions(app)
    app.pills(key="inside.stored_maps").set_value("SmolLM2-135M-Instruct (de-quantised 4-bit)").run()
    assert complaints(app) == []
    assert app.header[0].value.startswith("At layer 11, ")
    app = opened("positions", model=llama, text="the cat sat on the mat .")
    assert complaints(app) == []
    assert app.pills(key="inside.stored_maps").value is None


def test_a_baseline_stands_beside_a_map_and_one_that_cannot_be_run_is_said() -> None:
    app = opened("positions", baseline="shuffled")
    assert complaints(app) == []
    assert "the same model on the same words in another order" in captions(app)
    app = opened("positions", model="SmolLM2-135M-Instruct (de-quantised 4-bit)", baseline="random")
    assert not app.exception
    assert "on one text only" in app.error[0].value
    app = opened("positions", baseline="nothing")
    assert "asks for baseline 'nothing', which is not offered here" in complaints(app)[0]
    app = opened("positions", model="no/such-model-anywhere")
    assert not app.exception
    assert app.error or app.info


@pytest.mark.parametrize(
    ("name", "value"), [("over", "probe_set"), ("tab", "nope"), ("look", "nope"), ("measure", "nope"), ("term", "nope")]
)
def test_a_value_that_no_tab_knows_is_told_whatever_tab_is_shown(name: str, value: str) -> None:
    for others in ({}, {"text2": "The dog sat."}):
        said = complaints(opened("inside", **{name: value, **others}))
        assert len(said) == 1
        assert f"asks for {name} {value!r}, which is not offered here" in said[0]


def test_a_change_of_positions_takes_the_place_of_zero_positions() -> None:
    """Beside zeroed positions no other change of them acts; one of terms or segments does, and stays."""
    app = opened("inside", tab="change", do=["zero_positions", "drop_terms"], terms="word_to_word")
    most_used = "inside.do.Most used"
    app.pills(key=most_used).set_value(["zero_positions", "drop_terms", "shift_positions"]).run()
    assert app.session_state["inside.do"] == ("shift_positions", "drop_terms")
    assert [slider.label for slider in app.select_slider] == ["Shift by"]
    app.pills(key=most_used).set_value(["shift_positions", "drop_terms", "zero_positions"]).run()
    assert app.session_state["inside.do"] == ("zero_positions", "drop_terms")
    app.pills(key=most_used).set_value([]).run()
    assert shown(app.header[0].value) == "Nothing is changed: no intervention is chosen"


def test_a_link_with_a_change_that_cannot_act_opens_as_it_is_and_says_so() -> None:
    app = opened("inside", tab="change", do=["zero_positions", "shift_positions"], by="5")
    assert app.session_state["inside.do"] == ("zero_positions", "shift_positions")
    assert "Shift positions.** It has no effect beside “Zero positions”" in captions(app)
    assert not app.select_slider, "no slider moves what cannot act"


def test_interventions_are_grouped_and_several_apply_together() -> None:
    app = opened("inside", tab="change", do=["shift_positions", "drop_terms"], by="5", terms="word_to_word", layers="3")
    assert complaints(app) == []
    assert "Intervention: positions shifted by 5; word → word dropped, layer 3" in captions(app)
    app.pills(key="inside.do.Most used").set_value(["zero_positions"]).run()
    assert complaints(app) == []
    assert app.session_state["inside.do"] == ("zero_positions",)
    assert "Intervention: zero positions" in captions(app)
    app.segmented_control(key="inside.look.chosen").set_value("order").run()
    assert "permutes the output and does nothing else, up to rounding" in shown(app.header[0].value)
    app.segmented_control(key="inside.over.chosen").set_value("corpus").run()
    assert complaints(app) == []
    assert figures(app) == ["Every intervention over the probe set"]
    app.segmented_control(key="inside.look.chosen").set_value("masked").run()
    assert figures(app) == ["Loss on masked words after every operation"]
    app.segmented_control(key="inside.over.chosen").set_value("").run()
    assert figures(app) == ["How far the output moves"]
    app = opened("inside", tab="change", look="surgery")
    assert figures(app) == ["Sentence similarity after every operation"], "as older links say it"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"do": "drop_terms", "layers": "9"}, "There is no layer 9"),
        ({"do": "drop_terms", "layers": "first"}, "expected terms, layers and heads"),
        ({"do": "drop_terms", "terms": "score_bias"}, "adds no score bias to its scores"),
        ({"text": "word " * 600}, "Shorten it, or have it cut to 512"),
        ({"layer": "17"}, "There is no layer 17"),
        ({"do": "teleport"}, "'teleport'"),
    ],
)
def test_what_cannot_be_changed_is_said(asked: dict[str, str], said: str) -> None:
    app = opened("inside", tab="change", **asked)
    assert not app.exception
    assert said in " ".join(complaints(app))
