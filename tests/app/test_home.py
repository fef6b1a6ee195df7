"""Home: the question, the answer from the store, the moving picture, and what is certain, measured and open."""

import json
import re

from streamlit.testing.v1 import AppTest

from analysis.claims.statements import stored as statements
from analysis.narrative import hero
from analysis.narrative.answer import stored
from dashboard.widgets.answer_html import QUESTION
from tests.app.shown import opened


def home() -> AppTest:
    app = opened("")
    assert [*app.exception, *app.error, *app.warning] == []
    return app


def page(app: AppTest) -> str:
    return " ".join(block.value for block in app.get("html"))


def text(app: AppTest) -> str:
    """What a reader reads: no tags, no styles."""
    bare = re.sub(r"<style>.*?</style>|<[^>]+>", "", page(app), flags=re.DOTALL)
    return bare.replace("&#x27;", "'").replace("&amp;", "&")


def test_home_gives_the_stored_answer_with_a_link_for_each_sentence():
    app = home()
    shown = text(app)
    steps = stored.answer()
    assert [title.value for title in app.title] == [QUESTION]
    assert len(steps) > 5
    for step in steps:
        assert step.sentence in shown or step.name == "still_open", step
        assert f">{step.link}</a>" in page(app) or not step.link or step.name == "still_open"
    numbered = page(app).count("<li ")
    assert numbered == sum(step.place > 0 and step.name != "still_open" for step in steps)
    assert page(app).count('<li class="against"') == sum(
        step.against and step.place > 0 and step.name != "still_open" for step in steps
    )


def test_the_cards_count_what_the_ledger_counts():
    shown = text(home())
    counts = statements.counts()
    assert f"{counts['open']} of {sum(counts.values())} statements are not decided yet" in shown
    for kind in ("certain", "measured", "open"):
        assert kind in shown


def test_the_picture_has_five_stages_and_the_last_is_measured():
    app = home()
    components = [json.loads(json.loads(mounted.proto.json)["json"]) for mounted in app.get("bidi_component")]
    [stages] = [data["stages"] for data in components if "stages" in data]
    assert [stage["label"] for stage in stages[:4]] == [stage.label for stage in hero.STAGES]
    assert re.fullmatch(r"similarity score: 0\.\d{3} → 0\.\d{3}", stages[4]["note"])


def test_home_leads_on():
    labels = [link.proto.label for link in home().main.get("page_link")]
    assert labels == ["Walk me through it (10 minutes)", "Try my own sentence", "How sure are we? Every statement"]


def test_without_results_home_says_only_what_needs_none(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    shown = text(home())
    assert "already a sum" in shown, "algebra needs no data"
    assert "nats" not in shown
    assert "measured" not in shown.lower().split("being measured")[0]
