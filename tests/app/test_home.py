"""Home: the question, the answer from the store, the moving picture, and what is certain, measured and open."""

import json
import re
from functools import cache
from html import unescape
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest

from analysis.claims.statements import stored as statements
from analysis.narrative import hero
from analysis.narrative.answer import stored_answer
from analysis.narrative.answer.cards import front_page
from analysis.narrative.glossary import DEFINITIONS
from analysis.narrative.reading.length import minutes
from analysis.store import read
from dashboard.widgets.answer_html import QUESTION, scale_ticks
from tests.app.shown import opened


def silent_home() -> AppTest:
    app = opened("")
    assert [*app.exception, *app.error, *app.warning] == []
    return app


@cache
def home() -> AppTest:
    """Home of the committed data, which these tests only read."""
    return silent_home()


def page(app: AppTest) -> str:
    return " ".join(block.value for block in app.get("html"))


def text(app: AppTest) -> str:
    """What a reader reads, with plain spaces: no tags, no styles."""
    bare = re.sub(r"<style>.*?</style>|<[^>]+>", "", page(app), flags=re.DOTALL)
    return bare.replace("&#x27;", "'").replace("&amp;", "&").replace("\u00a0", " ")


def test_home_gives_the_stored_answer_with_a_link_for_each_sentence():
    app = home()
    shown = text(app)
    steps = stored_answer.answer()
    assert [title.value for title in app.title] == [QUESTION]
    assert len(steps) > 5
    for step in steps:
        assert all(line in shown for line in step.sentence.split("\n")) or step.part == "card", step
        assert all(line in shown for line in step.further.splitlines()), step
        assert step.heading in shown
        assert f">{step.link}</a>" in page(app) or not step.link or step.part == "card"


def test_three_reasons_stand_first_and_what_speaks_against_stands_beside_them():
    html = page(home())
    steps = stored_answer.answer()
    reasons = re.search(r"<ol>.*?</ol>", html, re.DOTALL)[0]
    headings = {part: [step.heading for step in steps if step.part == part] for part in ("reason", "but", "more")}
    assert re.findall(r"<h3>(.*?)</h3>", reasons) == headings["reason"]
    assert len(headings["reason"]) == 3
    box = html[html.index('<div class="but">') : html.index('<details class="more">')]
    assert re.findall(r"<h3>(.*?)</h3>", box) == headings["but"]
    assert headings["but"], "the contrary evidence is on the page and not behind a press"
    folded = html[html.index('<details class="more">') :]
    assert re.findall(r"<h3>(.*?)</h3>", folded) == headings["more"]
    assert all(step.against for step in steps if step.part == "but")


def test_a_link_to_a_statement_names_it():
    """So that its claim opens on the row that is quoted."""
    links = re.findall(r'href="[^"]*/claims\?([^"]*)"', page(home()))
    queries = [dict(parse_qsl(unescape(link))) for link in links]
    of_claims = [query for query in queries if query.get("claim")]
    assert {"claim": "C10", "statement": "C10d"} in of_claims
    known = {one.id: one.parent for one in statements.statements()}
    named = [query for query in of_claims if "statement" in query]
    assert len(named) > 5
    assert all(known[query["statement"]] == query["claim"] for query in named)


def test_a_word_of_the_glossary_is_a_button_that_opens_its_meaning():
    html = page(home())
    targets = re.findall(r'<button type="button" class="term" popovertarget="([^"]+)">', html)
    meanings = dict(re.findall(r'<div class="meaning" popover id="([^"]+)"><b>(.*?)</b>', html))
    assert len(targets) == len(set(targets)) > 1
    assert set(targets) == set(meanings)
    assert set(meanings.values()) <= set(DEFINITIONS)
    assert "<abbr" not in html


def test_the_curve_of_the_card_is_that_of_the_store():
    [drawn] = re.findall(r'class="dose" role="img" aria-label="([^"]*)"', page(home()))
    rows = read.query(
        "SELECT rank, value FROM newest_surgery WHERE operation = 'separated' AND model = 'all-MiniLM-L6-v2' "
        "ORDER BY rank"
    )
    assert [f"{row.value:.3f} with {row.rank}" for row in rows.itertuples()] == re.findall(r"0\.\d{3} with \d+", drawn)
    intact = read.query("SELECT value FROM newest_surgery WHERE operation = 'intact' AND model = 'all-MiniLM-L6-v2'")
    assert f"{intact.value[0]:.3f} as trained" in drawn


def test_the_pictures_of_the_table_have_a_scale():
    """Each named value stands where a row with that value would have its dot."""
    table = re.search(r'<table class="ways">.*?</table>', page(home()), re.DOTALL)[0]
    scale = re.search(r'<tr class="scale".*?</tr>', table, re.DOTALL)[0]
    ticks = {
        float(name.replace("−", "-")): float(place)
        for place, name in re.findall(r'<span style="left:([\d.]+)%">([^<]+)</span>', scale)
    }
    assert len(ticks) > 1
    (zero,) = {float(place) for place in re.findall(r'class="none" style="left:([\d.]+)%"', table)}
    assert ticks[0.0] == zero
    value, place = next((value, place) for value, place in ticks.items() if value)
    ways = {way.name: way for way in front_page().ways}
    rows = re.findall(r'<th scope="row"[^>]*>(.*?)</th>.*?class="dot" style="left:([\d.]+)%"', table, re.DOTALL)
    assert len(rows) > 5
    for name, dot in rows:
        way = ways[unescape(re.sub(r"<.*?>", "", name)).replace("\u00a0", " ")]
        assert float(dot) == pytest.approx(zero + (place - zero) * way.difference / value, abs=0.2), name


def test_a_scale_names_zero_and_the_roundest_values_near_its_ends():
    assert scale_ticks(-0.34, 0.33) == (-0.3, 0.0, 0.3)
    assert scale_ticks(-0.34, 0.29) == (-0.3, 0.0)
    assert scale_ticks(0.0, 2.4) == (0.0, 2.0)
    assert scale_ticks(0.0, 0.0) == (0.0,)


def test_the_cards_count_what_the_ledger_counts():
    shown = text(home())
    counts = statements.counts()
    waiting = sum(one.verdict == "open" and one.missing + one.planned > 0 for one in statements.statements())
    assert (
        f"{counts['open']} of {sum(counts.values())} statements are not decided yet; {waiting} wait for planned runs"
    ) in shown
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
    tour = f"Walk me through it ({minutes()} minutes)"
    assert labels == [tour, "Try my own sentence", "How sure are we? Every statement"]


def test_without_results_home_says_only_what_needs_none(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    shown = text(silent_home())
    assert "already a sum" in shown, "algebra needs no data"
    assert "nats" not in shown
    assert "measured" not in shown.lower().split("being measured")[0]
