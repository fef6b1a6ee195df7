"""Every page renders as it first opens, and a link that asks for nonsense gets a sentence, not a traceback."""

import ast
import shutil
from pathlib import Path

import pytest

from analysis.links import VIEWS
from analysis.probes import text_probe
from tests.app.shown import PAGES, figures, opened, shown

ROOT = Path(__file__).parents[2]
FILES = {page: f"views/{page or 'home'}.py" for page in PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_opens_without_a_complaint_and_with_captions(page):
    app = opened(page)
    assert not app.exception
    assert not app.error
    assert not app.warning
    assert app.title, "a page without a title"
    # A page of several parts or steps shows the figures of one.
    several = {"part", "step", "tab"} & set(VIEWS[page].defaults())
    if VIEWS[page].fields:
        assert len(app.caption) >= (1 if several else len(VIEWS[page].figures) - 1)


def test_a_head_that_does_not_exist_is_said_and_another_shown():
    app = opened("inside", head="99", look="maps")
    assert not app.exception
    assert any("head 99" in warning.value for warning in app.warning)
    assert any("Head 2" in title for title in figures(app)), "that which goes most by position"


def test_buttons_that_the_browser_sends_unpressed_keep_their_value():
    """As it does for buttons that were not on the page of an error, and are on the next one."""
    app = opened("inside", method="mean")
    app.session_state["inside.method"] = None
    app.run()
    assert not app.error
    assert app.session_state["inside.method"] == "mean"


@pytest.mark.parametrize("page", PAGES)
def test_no_note_on_the_code_is_drawn(page):
    """Streamlit draws a string that stands alone in a page's file, but for the first one."""
    _, *rest = ast.parse((ROOT / "dashboard" / FILES[page]).read_text(encoding="utf-8")).body
    assert not [part.lineno for part in rest if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant)]


def test_a_claim_that_does_not_exist_is_said_without_an_empty_name():
    app = opened("claims", claim="C99")
    assert not app.exception
    assert [shown(warning.value) for warning in app.warning] == [
        "The link asks for claim 'C99', which is not offered here; the page is shown without it."
    ]


def test_a_head_that_is_no_number_is_said():
    app = opened("inside", head="two")
    assert not app.exception
    assert any("head='two'" in shown(warning.value) for warning in app.warning)


def test_a_text_in_the_link_is_probed():
    app = opened("inside", text="Order matters here.", head="3", look="maps")
    assert not app.exception
    assert any("Head 3" in title for title in figures(app))
    assert any("one text of 6 tokens" in caption.value for caption in app.caption)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"text": "word " * 600}, "602 tokens"),
        ({"text": "x", "model": "/nowhere/at/all"}, "There is no folder"),
        ({"text": "x", "layer": "77"}, "There is no layer 77"),
        ({"text": "x", "probe": "never-saved"}, "There is no saved probe"),
        ({"text": "x", "model": "not a model"}, "neither a folder nor a Hugging Face id"),
    ],
)
def test_what_cannot_be_probed_is_said_and_the_app_goes_on(parameters, said):
    app = opened("probe", **parameters)
    assert not app.exception
    assert any(said in error.value for error in app.error), [error.value for error in app.error]


def test_an_over_long_text_can_be_cut():
    app = opened("inside", text="word " * 600)
    next(button for button in app.button if button.label == "Cut the text and go on").click()
    app.run()
    assert not app.exception
    assert not app.error
    assert any("cut from 602 to 512 tokens" in warning.value for warning in app.warning)


@pytest.mark.parametrize(
    ("page", "parameters"),
    [
        ("probe", {"model": "![](http://localhost:1/x)"}),
        ("probe", {"probe": "[click](http://localhost:1)"}),
        ("inside", {"head": "[click](http://localhost:1)"}),
        ("published", {"baseline": "![](http://localhost:1/x)"}),
    ],
)
def test_a_link_cannot_write_markdown_into_our_sentences(page, parameters):
    app = opened(page, **parameters)
    said = [box.value for box in (*app.error, *app.warning, *app.info)]
    assert any("localhost" in text for text in said), said
    assert not any("](http" in text for text in said)


def test_what_readers_saved_is_offered_to_nobody_else(tmp_path, monkeypatch):
    data = tmp_path / "data"
    shutil.copytree(ROOT / "data", data, ignore=shutil.ignore_patterns("store"))
    monkeypatch.setenv("ADDEND_DATA", str(data))
    monkeypatch.setenv("ADDEND_STORE", str(tmp_path / "own.duckdb"))
    text_probe.save(text_probe.TermsRequest(model="all-MiniLM-L6-v2", text="a secret of mine").run())
    for page in ("inside", "about"):
        app = opened(page)
        assert not app.exception
        tables = [str(table.value.to_dict()) for table in app.dataframe]
        offered = [str(box.options) for box in app.selectbox]
        assert not any("secret" in text for text in (*tables, *offered))


@pytest.mark.parametrize(
    ("page", "box", "button", "field"),
    [
        ("inside", "Text", "Take apart", "text"),
        ("sql", "Query", "Run", "query"),
    ],
)
def test_a_form_can_be_sent_again_and_keeps_its_text_while_its_reader_is_elsewhere(page, box, button, field):
    app = opened(page)
    for number in range(3):
        asked = f"SELECT {number}"
        next(area for area in app.text_area if area.label == box).input(asked)
        next(one for one in app.button if one.label == button).click()
        app.run()
        assert app.session_state[f"{page}.{field}"] == asked
    app.switch_page(FILES["about"]).run()
    app.switch_page(FILES[page])
    app.query_params[field] = "SELECT 2"
    app.run()
    assert next(area for area in app.text_area if area.label == box).value == "SELECT 2"


def test_a_search_of_the_glossary_leaves_the_words_that_match():
    app = opened("about")
    every = sum(text.value.count("\n- **") + text.value.startswith("- **") for text in app.markdown)
    app.text_input(key="about.find").set_value("kernel").run()
    assert not app.exception
    left = [text.value for text in app.markdown if text.value.startswith("- **")]
    assert left
    assert sum(text.count("- **") for text in left) < every
    assert all("kernel" in line.lower() for text in left for line in text.split("\n"))
    app.text_input(key="about.find").set_value("no *such* word").run()
    assert not app.exception
    assert any("no *such* word" in shown(info.value) for info in app.info)
