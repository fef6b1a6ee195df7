"""The page Claims: what its links open, what a press stores, the first verdicts, and stores without results."""

import json
import re
from collections import Counter
from functools import partial
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from analysis.ablation.variants import title
from analysis.claims import CLAIMS
from analysis.claims.statements import judge, stored
from analysis.claims.statements.deciding import AGAINST, FOR, bearing
from analysis.core.formatting import unbroken
from analysis.figures.claims.board import IN_PART, STANDINGS
from analysis.figures.reading.told import IN_MORE_PLACES
from tests.app import shown as reader
from tests.app.shown import shown, silent, told

opened = partial(reader.opened, "claims")


def sent(app: AppTest) -> dict:
    """What the board was given."""
    components = app.get("bidi_component")
    (component,) = [one for one in components if one.proto.component_name == "addend_claims_board"]
    return json.loads(json.loads(component.proto.json)["json"])


def test_the_board_has_all_claims_and_the_lead_counts_them():
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    board = sent(app)
    claims = set(CLAIMS) - {"C33"}  # Its only statement was withdrawn.
    assert {claim["id"] for group in board["board"]["groups"] for claim in group["claims"]} == claims
    counts = stored.counts()
    assert f"Of {len(claims)} claims about positions" in told(app)
    assert f"in {sum(counts.values())} statements that can be tested" in told(app)
    sides = {claim: Counter(map(bearing, stored.parts(claim))) for claim in claims}
    both = sum(bool(count[FOR] and count[AGAINST]) for count in sides.values())
    opposed = sum(bool(count[AGAINST] and not count[FOR]) for count in sides.values())
    assert f" {both} {STANDINGS[IN_PART][both != 1]}" in told(app)
    assert f" {opposed} {STANDINGS[AGAINST][opposed != 1]}" in told(app)
    said = re.search(r"claims about positions, (.*?)\.", told(app))
    assert said
    assert sum(map(int, re.findall(r"\d+", said[1]))) == len(claims), "each claim stands in one count"
    assert board["state"] == {
        "claim": "", "statement": "", "verdict": "", "document": "", "evidence": "", "by": "question"
    }  # fmt: skip
    assert board["details"] == {}, "what lies behind statements is sent of the claim that is open"


@pytest.mark.parametrize(
    "fields",
    [{"claim": "C17"}, {"verdict": "open", "by": "verdict"}, {"document": "002"}, {"evidence": "trainings"}],
)
def test_a_link_opens_what_it_says(fields: dict[str, str]):
    app = opened(**fields)
    assert silent(app), (app.exception, app.error, app.warning)
    state = sent(app)["state"]
    assert {name: state[name] for name in fields} == fields


@pytest.mark.parametrize(("statement", "claim"), [("C10d", "C10"), ("C02a", "C02")])
def test_a_link_to_a_statement_opens_its_claim(statement: str, claim: str):
    """C02a is withdrawn: its claim still says what it was."""
    app = opened(statement=statement)
    assert silent(app), (app.exception, app.error, app.warning)
    board = sent(app)
    assert (board["state"]["claim"], board["state"]["statement"]) == (claim, statement)
    assert app.query_params["claim"] == claim
    entries = next(one for group in board["board"]["groups"] for one in group["claims"] if one["id"] == claim)
    logged = {id for change in entries["changes"] for id in change["ids"]}
    assert statement in {one["id"] for one in entries["statements"]} | logged


def test_a_link_to_a_statement_that_waits_for_its_runs_opens_the_one_that_it_asks_again():
    waiting = next((one for one in stored.statements() if one.asked_again_by), None)
    if waiting is None:
        pytest.skip("no statement is asked again at present")
    app = opened(statement=waiting.asked_again_by)
    assert silent(app), (app.exception, app.error, app.warning)
    state = sent(app)["state"]
    assert (state["claim"], state["statement"]) == (waiting.parent, waiting.id)


def test_what_lies_behind_an_open_claim_is_sent():
    app = opened(claim="C09")
    parts = stored.parts("C09")
    details = sent(app)["details"]
    assert set(details) == {part.id for part in parts}
    for part in parts:
        detail = details[part.id]
        assert (detail["sentence"], detail["rule"], detail["query"]) == (part.sentence, part.rule, part.query)
        assert len(detail["readings"]) == len(part.readings)


def test_two_claims_open_with_the_pictures_of_home_and_others_with_none():
    (ways,) = sent(opened(claim="C34"))["picture"]["C34"].values()
    names = re.findall(r'<th scope="row"[^>]*>(.*?)</th>', unescape(ways))
    assert names == [unbroken(title(variant)) for variant in IN_MORE_PLACES]
    (curve,) = sent(opened(claim="C10"))["picture"]["C10"].values()
    assert 'class="curve"' in curve
    assert sent(opened(claim="C09"))["picture"]["C09"] == {}


def test_a_page_judges_nothing_and_reads_no_rules(monkeypatch):
    """Once the store is built, opening the page neither judges nor reads a file of rules."""
    assert silent(opened(claim="C17"))

    def refuse(*args, **kwargs):
        raise AssertionError("a page judged, or read the rules")

    monkeypatch.setattr(judge, "judge", refuse)
    monkeypatch.setattr("analysis.rules.rule_files", refuse)
    monkeypatch.setattr("analysis.claims.statements.comparison.rule_files", refuse)
    app = opened(claim="C18")
    assert silent(app), app.exception
    assert sent(app)["details"]


def test_an_unknown_claim_is_said_and_all_are_shown():
    app = opened(claim="C99")
    assert not app.exception
    assert any("C99" in shown(warning.value) for warning in app.warning)
    assert sent(app)["state"]["claim"] == ""


@pytest.mark.parametrize("fields", [{"rules": "1"}, {"document": "002", "rules": "1"}])
def test_links_to_the_first_verdicts_lead_to_their_page(fields: dict[str, str]):
    app = opened(**fields)
    assert silent(app), (app.exception, app.error, app.warning)
    assert shown(stored.first_verdicts_note()) in told(app)
    assert "data/first_verdicts.html" in told(app)
    (frame,) = app.get("iframe")
    assert all(f'<details class="claim" id="C{number:02}">' in frame.proto.srcdoc for number in range(1, 29))


def test_a_word_of_the_first_verdicts_is_read_as_its_word_of_today():
    app = opened(verdict="inconclusive")
    assert silent(app)
    assert sent(app)["state"]["verdict"] == "open"


def test_without_results_everything_is_not_yet_measured(tmp_path, monkeypatch):
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("ADDEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("ADDEND_STORE", raising=False)
    app = opened()
    assert silent(app), (app.exception, app.error, app.warning)
    by_dimensions = {"C01a", "C01b"}  # computed from the sizes of a model that comes with Addend
    undecided = [one for one in stored.statements() if one.id not in by_dimensions]
    assert {one.verdict for one in undecided} == {"open"}, "nothing is measured, so nothing is decided"
    assert f"{len(undecided)} open" in told(app)
    app = opened(claim="C05")
    assert silent(app), (app.exception, app.error, app.warning)
    app = opened(rules="1")
    assert not app.exception
    assert "data/first_verdicts.html" in " ".join(shown(one.value) for one in (*app.info, *app.warning, *app.error))
