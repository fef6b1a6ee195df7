"""Presses on the maps of scores are answered in the browser, by pointer and by keyboard, and the address follows."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, settled

pytestmark = pytest.mark.browser


def opened(page: Page, address: str, query: str = "") -> Page:
    page.goto(f"{address}/inside{query}")
    settled(page)
    expect(page.locator(".why h3")).to_be_visible()
    return page


def press(page: Page, place: str, row: int, column: int, *modifiers: str) -> None:
    """Presses a cell of a map by its row and column."""
    host = page.locator(place)
    host.scroll_into_view_if_needed()
    grid = host.evaluate("(host) => host.grid")
    position = {
        "x": grid["left"] + grid["size"] * (column + 0.5),
        "y": grid["top"] + grid["size"] * (row + 0.5),
    }
    host.click(position=position, modifiers=list(modifiers))  # type: ignore[arg-type]


def bars(page: Page) -> list[float]:
    """The numbers of the explanation: the parts, then their sum."""
    return [float(text.replace("−", "-")) for text in page.locator(".why .bar b").all_inner_texts()]


def test_a_cell_stays_when_the_other_terms_are_shown_and_its_reason_is_a_term(page: Page, address: str) -> None:
    opened(page, address)
    cell = page.locator(".why h3").inner_text()
    page.get_by_role("button", name="Show each").click()
    expect(page.get_by_role("button", name="Only word and position")).to_be_visible()
    settled(page)
    expect(page.locator(".why h3")).to_have_text(cell)
    opened(page, address, "?query=1&key=0")  # Where the other terms together are the largest part.
    reason = page.locator(".why p b").first
    expect(reason).to_have_text("position → position")
    expect(page.locator(".why p").first).to_contain_text("The largest part, position → position, is less than half")


def test_a_press_is_answered_in_the_browser_and_the_address_follows(page: Page, address: str) -> None:
    opened(page, address)
    page.context.set_offline(True)  # no trip to the server
    press(page, ".maps .map >> nth=0", 2, 4)
    expect(page.locator(".why h3")).to_have_text(re.compile("“keys” looks (at|away from) “the”"))
    numbers = bars(page)
    assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.005 * len(numbers))
    expect(page.locator(".maps > div:visible")).to_have_count(4)
    for place in range(4):
        frames = page.locator(f".maps .map >> nth={place}").locator("svg rect[stroke-width='3']")
        expect(frames).to_have_count(1)
    # The head's largest term is drawn large; another is once its name is pressed.
    large = page.locator(".maps > .large")
    expect(large).to_contain_text("position → position")
    page.get_by_role("button", name="word → position").click()
    expect(large).to_have_count(1)
    expect(large).to_contain_text("word → position")
    expect(page.locator("[data-id=pattern] svg rect[stroke-width='3']")).to_have_count(1)
    page.context.set_offline(False)
    expect(page).to_have_url(re.compile("query=2&key=4"))
    settled(page)
    assert bars(page) == numbers
    page.reload()
    settled(page)
    expect(page.locator(".why h3")).to_have_text(re.compile("“keys” looks (at|away from) “the”"))
    assert bars(page) == numbers


def test_the_keyboard_moves_the_cell_and_several_rows_are_a_mean(page: Page, address: str) -> None:
    opened(page, address, "?query=2&key=4&head=3")
    host = page.locator(".maps .map >> nth=1")
    press(page, ".maps .map >> nth=1", 2, 4)
    host.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".why h3")).to_have_text(re.compile("“to” looks (at|away from) “old”"))
    assert host.get_attribute("tabindex") == "0"
    assert page.locator(".maps .map >> nth=0").get_attribute("tabindex") == "-1"
    expect(host).to_have_attribute("aria-label", re.compile("“to” on “old”, word → position"))
    single = bars(page)
    press(page, ".maps .map >> nth=1", 5, 5, "Shift")
    expect(page.locator(".why h3")).to_have_text(re.compile("2 tokens on “old”"))
    both = bars(page)
    press(page, ".maps .map >> nth=1", 5, 5)
    other = bars(page)
    assert both == pytest.approx([(a + b) / 2 for a, b in zip(single, other, strict=True)], abs=0.011)
    expect(page).to_have_url(re.compile("query=5&key=5"))
    # Without a keyboard a switch stands for Shift; with one, Shift and an arrow keep the row that is left.
    page.get_by_role("button", name="Select several tokens by their cells").click()
    press(page, ".maps .map >> nth=1", 3, 5)
    expect(page.locator(".why h3")).to_have_text(re.compile("2 tokens on “old”"))
    assert bars(page) == both
    page.get_by_role("button", name="Only the outlined cell").click()
    assert bars(page) == other
    page.locator(".maps .map >> nth=1").focus()
    page.keyboard.press("Shift+ArrowDown")
    expect(page.locator(".why h3")).to_have_text(re.compile("2 tokens on “old”"))


def test_a_head_of_another_layer_comes_from_the_server(page: Page, address: str) -> None:
    opened(page, address)
    expect(page.locator(".board h2")).to_contain_text("Head 2 of layer 0")
    press(page, "[data-id=table]", 3, 5)
    expect(page).to_have_url(re.compile("layer=3&head=5"))
    expect(page.locator(".board h2")).to_contain_text("Head 5 of layer 3")
    page.go_back()
    expect(page.locator(".board h2")).to_contain_text("Head 2 of layer 0")
    page.get_by_role("radio", name="word → word").click()
    page.locator(".strongest button").first.click()
    expect(page).to_have_url(re.compile("term=word_to_word"))
    expect(page.locator(".strongest button[aria-current=true]")).to_have_count(1)


def test_on_a_phone_nothing_moves_sideways_and_letters_are_large_enough(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)
    opened(page, address, "?text=The+keys+to+the+old+cabinet+are+on+the+table%2C+and+nobody+knows+who+left+them.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    sizes = page.locator(".board").evaluate(
        "(board) => [...board.querySelectorAll('text, p, button, span, h2, h3')]"
        ".map((one) => parseFloat(getComputedStyle(one).fontSize))"
    )
    assert min(sizes) >= 12.5


def test_on_a_phone_the_form_is_one_line_until_it_is_opened_or_there_is_nothing_to_show(page: Page, address) -> None:
    page.set_viewport_size(PHONE)
    opened(page, address)
    text, line = page.get_by_label("Text", exact=True), page.locator(".st-key-inside-fold button")
    expect(text).not_to_be_visible()
    expect(line).to_contain_text("all-MiniLM-L6-v2, “The keys")
    heading = page.locator(".board h2")
    for _ in range(100):  # While the page is drawn, what it says of the model stands above.
        if (box := heading.bounding_box()) and box["y"] < 600:
            break
        page.wait_for_timeout(100)
    box = heading.bounding_box()
    assert box
    assert box["y"] < 600
    line.click()
    expect(text).to_be_visible()
    text.fill(" ")
    page.get_by_role("button", name="Take apart").click()
    expect(page.locator(".st-key-inside-failed")).to_be_visible()
    expect(text).to_be_visible()
    text.fill("The cat sat.")
    page.get_by_role("button", name="Take apart").click()
    expect(page.locator(".board h2")).to_be_visible()
    expect(text).not_to_be_visible()
    page.set_viewport_size({"width": 1400, "height": 900})
    expect(text).to_be_visible()
    expect(line).not_to_be_visible()
