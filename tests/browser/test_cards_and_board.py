"""The cards of Geometry and the board of Which encoding?, as a keyboard and a press use them."""

import re

import pytest
from playwright.sync_api import Page, expect

from analysis.narrative.choosing.board import VARIANT_NAMES
from tests.browser.conftest import settled

pytestmark = pytest.mark.browser


def test_the_cards_are_a_radio_group_for_the_keyboard(page: Page, address: str) -> None:
    page.goto(f"{address}/geometry")
    settled(page)
    cards = page.get_by_role("radiogroup", name="Questions").get_by_role("radio")
    expect(cards).to_have_count(4)
    expect(page.get_by_role("radiogroup", name="Questions").locator("[tabindex='0']")).to_have_count(1)
    cards.first.focus()
    page.keyboard.press("ArrowRight")
    expect(cards.nth(1)).to_be_focused()
    expect(cards.nth(1)).to_have_attribute("aria-checked", "true")
    page.wait_for_url(re.compile("part=directions"))
    page.keyboard.press("End")
    page.wait_for_url(re.compile("part=words"))
    settled(page)
    expect(cards.nth(3)).to_have_attribute("aria-checked", "true")


def test_a_row_opens_under_itself_and_closes(page: Page, address: str) -> None:
    page.goto(f"{address}/choose")
    settled(page)
    rows = page.locator("button[data-row]")
    expect(rows).to_have_count(len(VARIANT_NAMES))
    row = page.locator("button[data-row=alibi]")
    row.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("row=alibi"))
    settled(page)
    expect(row).to_have_attribute("aria-expanded", "true")
    opened = page.locator("[class*=st-key-choose-opened]")
    names = rows.evaluate_all("(buttons) => buttons.map((button) => button.dataset.row)")
    after = names[names.index("alibi") + 1]
    box, below = opened.bounding_box(), page.locator(f"button[data-row={after}]").bounding_box()
    above = row.bounding_box()
    assert box
    assert above
    assert below
    assert above["y"] < box["y"] < below["y"]
    row.click()
    expect(opened).to_have_count(0)
    expect(page).not_to_have_url(re.compile("row="))


@pytest.mark.parametrize("path", ["geometry", "choose?row=rotary"])
def test_nothing_scrolls_sideways_on_a_phone_and_letters_stay_large(page: Page, address: str, path: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{address}/{path}")
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    sizes = page.locator("button[data-row], button[data-part]").evaluate_all(
        "(buttons) => buttons.flatMap((button) => [button, ...button.querySelectorAll('*')])"
        ".filter((part) => part.textContent.trim() && !part.children.length)"
        ".map((part) => parseFloat(getComputedStyle(part).fontSize))"
    )
    assert sizes
    assert min(sizes) >= 12.5


@pytest.mark.parametrize(("width", "glyphs"), [(390, False), (1400, True)])
def test_a_row_of_the_experiments_says_where_positions_are_told(
    page: Page, address: str, width: int, glyphs: bool
) -> None:
    """In its column where there is room for one, else in a line under its name."""
    page.set_viewport_size({"width": width, "height": 844})
    page.goto(f"{address}/experiments?preset=width128")
    settled(page)
    row = page.locator("button[data-row=concat_20]")
    expect(row.locator(".told svg")).to_be_visible(visible=glyphs)
    line = row.get_by_text("Told at the input, beside the words")
    expect(line).to_be_visible(visible=not glyphs)
