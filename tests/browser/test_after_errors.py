"""What a page shows after an error, after another model, and of a text that is too long for an address."""

import json
import re
from contextlib import suppress
from urllib.parse import quote_plus

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from analysis.links import ADDRESS_LIMIT, VIEWS
from tests.browser.conftest import DESK, settled

pytestmark = pytest.mark.browser

LONG = "The keys to the old cabinet are on the table, and nobody knows who left them there. " * 25
TEXT = "Sums keep their parts."

PAGES = {
    "inside": (
        "Text",
        "Take apart",
        "as papers print it|Attention changes most|Press a head|What each layer|All heads",
    ),
}
"""By page: the box of its text, the button that runs it, and what stands below its controls when it has run."""
CONTROLS = """() => {
  const label = (box) => box.closest("[data-testid=stElementContainer]").innerText.split("\\n")[0];
  const all = (selector) => [...document.querySelectorAll(`[data-testid=stMain] ${selector}`)];
  return [
    ...all("[role=switch]").map((box) => [label(box), box.checked ?? box.getAttribute("aria-checked")]),
    ...all("[role=radio]").map((box) => [label(box), box.innerText, box.getAttribute("aria-checked") ?? box.checked]),
    ...all("input[type=range]").map((box) => [label(box), box.value]),
    ...all("[data-testid=stSelectbox]").map((box) => [box.innerText, box.querySelector("input").value]),
  ].map(String);
}"""
"""The state of every control below the form, as a reader sees it."""
UNCHANGED = f"""() => {{
  const running = document.querySelector("[data-test-script-state=running]");
  const now = running ? null : JSON.stringify(({CONTROLS})());
  if (running || now !== window.controlsSeen) {{
    window.controlsSeen = now;
    window.controlsSince = performance.now();
  }}
  return performance.now() - window.controlsSince > 400;
}}"""
"""Whether no control has changed for 0.4 seconds, and the page has not run either."""


def opened(page: Page, address: str, path: str) -> Page:
    page.goto(f"{address}/{path}")
    settled(page)
    return page


def send(page: Page, path: str, text: str) -> None:
    box, button, _ = PAGES[path.partition("?")[0]]
    page.get_by_label(box, exact=True).fill(text)
    page.get_by_role("button", name=button).click()


def drawn(page: Page, path: str, expected: list[str] | None = None) -> list[str]:
    """The controls once the page is drawn to its end.

    The page runs twice after a press, and between the two runs it looks finished: this waits until the controls have
    been the same for 0.4 seconds, and with `expected` until they are those, for as long as Playwright waits for
    anything.
    """
    expect(page.get_by_text(re.compile(PAGES[path.partition("?")[0]][2])).last).to_be_attached()
    settled(page)
    page.wait_for_function("!document.querySelector('[data-stale=true]')")
    page.wait_for_function(UNCHANGED, polling=100)
    if expected is not None:
        with suppress(TimeoutError):
            page.wait_for_function(f"(expected) => JSON.stringify(({CONTROLS})()) === expected", arg=compact(expected))
    return page.evaluate(CONTROLS)


def compact(controls: list[str]) -> str:
    """The text that `JSON.stringify` gives these controls."""
    return json.dumps(controls, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    "path",
    [
        "inside",
        "inside?centred=0&group=all&head=3&layer=1",
        "inside?tab=change&look=heads",
        "inside?tab=positions",
        "inside?text2=The+dog+sat.&layer2=1&method2=mean&look=cell",
    ],
)
def test_after_an_error_every_control_shows_what_is_computed(page: Page, address: str, path: str) -> None:
    """The browser forgets the controls that the page of an error lacks. The link brings the text that is sent again."""
    opened(page, address, f"{path}{'&' if '?' in path else '?'}text={quote_plus(TEXT)}")
    before = drawn(page, path)
    assert len(before) >= 3, before
    send(page, path, " ")
    expect(failed := page.locator(".st-key-inside-failed")).to_be_visible()
    settled(page)
    send(page, path, TEXT)
    expect(failed).to_have_count(0)
    assert drawn(page, path, before) == before


def test_the_boxes_of_the_form_come_in_the_order_of_their_labels(page: Page, address: str) -> None:
    opened(page, address, "inside")
    page.get_by_label("Text", exact=True).focus()
    page.keyboard.press("Tab")
    expect(page.get_by_label("Second text", exact=True)).to_be_focused()


def test_the_button_of_a_stored_map_is_pressed_only_while_that_map_is_shown(page: Page, address: str) -> None:
    opened(page, address, "positions")
    stored = page.get_by_role("button", name="Stored models")
    pressed = page.get_by_role("radio", checked=True).filter(has_text="MiniLM")
    stored.click()
    expect(pressed).to_have_count(1)
    page.keyboard.press("Escape")
    page.get_by_label("Model", exact=True).fill("cpu-bert_a-0")
    page.get_by_role("button", name="Take apart").click()
    expect(page.get_by_text(re.compile("^cpu-bert_a-0 "))).to_be_visible()
    settled(page)
    stored.click()
    expect(page.get_by_role("radio").filter(has_text="MiniLM")).to_have_count(1)
    expect(pressed).to_have_count(0)


@pytest.mark.parametrize("path", PAGES)
def test_a_text_too_long_for_an_address_stays_in_the_session(page: Page, other: Page, address: str, path: str) -> None:
    """Its address is short, goes back and forth and to the other pages of its room, and says elsewhere what is lost."""
    opened(page, address, path)
    send(page, path, LONG)
    page.wait_for_url("**held=**")
    drawn(page, path)
    assert len(page.url) < ADDRESS_LIMIT
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("The text is too long for a link")).to_be_visible()
    page.keyboard.press("Escape")
    for link in page.locator("[data-testid=stMain] a").all():
        assert len(link.get_attribute("href") or "") < ADDRESS_LIMIT + 100
    page.go_back()
    box = page.get_by_label(PAGES[path][0], exact=True)
    expect(box).to_have_value(str(VIEWS[path].defaults()["text"]))
    page.go_forward()
    expect(box).to_have_value(LONG)

    other.set_viewport_size(DESK)
    other.goto(page.url)
    settled(other)
    expect(other.get_by_text("only the session in which it was typed holds it")).to_be_visible()


def test_a_long_link_that_was_opened_stays_as_it_is(page: Page, address: str) -> None:
    link = f"{address}/inside?text={'+'.join(['keys'] * 480)}"
    assert len(link) > ADDRESS_LIMIT
    opened(page, link.partition("/inside")[0], f"inside{link.partition('/inside')[2]}")
    drawn(page, "inside")
    assert page.url == link
