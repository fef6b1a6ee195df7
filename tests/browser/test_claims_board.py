"""The page Claims in a real browser: opened by key and by press, kept in the address, whole on a phone."""

import re

import pytest
from playwright.sync_api import expect

from analysis.claims.statements import stored
from tests.browser.conftest import PHONE, settled

pytestmark = pytest.mark.browser
WIDER = """() => {
  const main = document.querySelector("[data-testid=stMain]");
  return main.scrollWidth - main.clientWidth;
}"""
"""Pixels by which the page is wider than its window."""


@pytest.fixture(autouse=True)
def store(built, monkeypatch):
    """The store of the app, as this process's store."""
    monkeypatch.setenv("ADDEND_STORE", str(built))


def opened(page, address, query=""):
    page.goto(f"{address}/claims{query}")
    settled(page)
    expect(page.locator(".row").first).to_be_visible()
    return page


def test_a_claim_opens_by_key_and_its_address_opens_it_again(page, address):
    opened(page, address)
    assert page.locator(".row").count() == len(stored.headings())
    row = page.locator("#C17")
    row.focus()
    page.keyboard.press("Enter")
    expect(row).to_have_attribute("aria-expanded", "true")
    page.wait_for_url(re.compile(r"claim=C17"))
    parts = stored.parts("C17")
    expect(page.locator("#panel-C17 [data-statement]")).to_have_count(len(parts))
    page.locator("#panel-C17 [data-behind=C17a]").press("Enter")
    expect(page.locator("#panel-C17 .under")).to_contain_text(next(part.rule for part in parts if part.id == "C17a"))
    opened(page, address, "?claim=C17")
    expect(page.locator("#panel-C17")).to_be_visible()
    page.locator("#C17").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#panel-C17")).to_have_count(0)
    page.wait_for_url(re.compile(r"/claims$"))


def test_a_link_to_a_statement_tints_it(page, address):
    opened(page, address, "?statement=C10d")
    expect(page.locator("#panel-C10 .st.quoted")).to_have_attribute("data-statement", "C10d")
    expect(page.locator("[data-statement=C10d]")).to_be_in_viewport()


def test_what_the_first_page_quotes_stands_first_in_its_claim(page, address):
    """Then what decides the claim; open statements are the last of those that take a side."""
    opened(page, address, "?claim=C34")
    places = page.locator("#panel-C34 > .st")
    ids = [place.get_attribute("data-statement") for place in places.all()]
    verdicts = {one.id: one.verdict for one in stored.parts("C34")}
    assert ids[:2] == ["C34b", next(one.id for one in stored.parts("C34") if one.decides)]
    assert [verdicts[id] == "open" for id in ids] == sorted(verdicts[id] == "open" for id in ids)
    expect(page.locator("#panel-C34 .st.quoted")).to_have_attribute("data-statement", "C34b")


def test_the_count_is_the_filter(page, address):
    opened(page, address)
    page.locator(".tally .contradicted").click()
    page.wait_for_url(re.compile(r"verdict=contradicted"))
    with_one = {one.parent for one in stored.statements() if one.verdict == "contradicted"}
    assert {row.get_attribute("id") for row in page.locator(".row").all()} == with_one
    pale = page.locator(".sq i.off").count()
    assert pale == sum(one.verdict != "contradicted" for one in stored.statements() if one.parent in with_one)


def test_on_a_phone_nothing_is_wider_than_the_screen(page, address):
    page.set_viewport_size(PHONE)
    opened(page, address, "?claim=C34")
    expect(page.locator("#panel-C34")).to_be_visible()
    assert page.evaluate(WIDER) <= 0
