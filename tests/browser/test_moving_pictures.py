"""The moving pictures in a real browser: by button, slider and key, without a trip to the server."""

import re
import time

import pytest
from playwright.sync_api import expect

from analysis.narrative.hero import STAGES, after_training
from tests.browser.conftest import PHONE, settled

DRAG = """(slider, at) => {
  const started = performance.now();
  slider.value = at;
  slider.dispatchEvent(new Event("input"));
  return performance.now() - started;
}"""
"""Moves a slider without letting it go; the milliseconds until its picture has changed."""
FRAMES_DRAWN = """(last) => {
  const all = [...document.querySelectorAll("[data-testid=stBidiComponentIsolated]")].map((one) => one.shadowRoot);
  const root = all.find((one) => one && one.querySelector(".panels"));
  if (!root) return false;
  const slider = root.querySelector("input");
  const at = slider.value;
  const drawn = (place) => {
    slider.value = place;
    slider.dispatchEvent(new Event("input"));
    return !root.querySelector("figure").classList.contains("waiting");
  };
  const all_drawn = [...Array(last + 1).keys()].every(drawn);
  drawn(at);
  return all_drawn;
}"""
"""Whether every picture of a slider has come from the server."""

pytestmark = pytest.mark.browser


def stage(page):
    return page.locator("figure .stage b")


def drawn(page) -> str:
    return page.locator("figure svg").first.inner_html()


def test_the_stages_are_reached_with_no_server(page, address):
    page.goto(address)
    settled(page)
    expect(stage(page)).to_have_text(STAGES[0].name)
    page.context.set_offline(True)
    try:
        seen = {drawn(page)}
        for one in STAGES[1:]:
            page.get_by_role("button", name=one.label, exact=True).click()
            expect(stage(page)).to_have_text(one.name)
            expect(page.locator("figure .says")).to_have_text(one.says)
            seen.add(drawn(page))
        assert len(seen) == len(STAGES), "every stage is another picture"
        page.get_by_role("slider", name="From concatenating to adding").press("ArrowRight")
        expect(stage(page)).to_have_text(after_training(None).name)
        expect(page.get_by_role("button", name="After training")).to_have_attribute("aria-pressed", "true")
        page.get_by_role("slider", name="From concatenating to adding").press("ArrowLeft")
        expect(stage(page)).to_have_text(STAGES[3].name)
    finally:
        page.context.set_offline(False)


def test_no_stage_moves_what_stands_below(page, address):
    page.emulate_media(reduced_motion="reduce")
    page.goto(address)
    settled(page)
    for width in (390, 760, 1360):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function("(width) => innerWidth === width", arg=width)
        heights = set()
        for one in (*STAGES, after_training(None)):
            page.get_by_role("button", name=one.label, exact=True).click()
            expect(stage(page)).to_have_text(one.name)
            heights.add(page.locator("figure:has(.stage)").bounding_box()["height"])
        assert len(heights) == 1, width
    page.emulate_media(reduced_motion="no-preference")


def test_a_word_of_the_glossary_opens_by_keyboard_and_touch(other, address):
    other.goto(address)
    settled(other)
    word, meaning = other.locator(".answer .term").first, other.locator(".answer .meaning:popover-open")
    word.focus()
    other.keyboard.press("Enter")
    expect(meaning).to_be_visible()
    other.keyboard.press("Escape")
    expect(meaning).to_have_count(0)
    word.tap()
    expect(meaning).to_be_visible()
    box = meaning.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_readers_who_want_no_motion_get_the_last_picture_at_once(other, address, scheme):
    other.emulate_media(reduced_motion="reduce", color_scheme=scheme)
    other.goto(address)
    settled(other)
    other.get_by_role("button", name="After training").tap()
    assert other.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= PHONE["width"]
    first = drawn(other)
    time.sleep(0.3)
    assert drawn(other) == first, "nothing moves"
    expect(stage(other)).to_have_text(after_training(None).name)
    assert re.search(r"similarity score: 0\.\d{3} → 0\.\d{3}", first)
    ink = other.locator("figure").evaluate("figure => getComputedStyle(figure).color")
    assert ink == ("rgb(236, 238, 242)" if scheme == "dark" else "rgb(31, 36, 48)")


def slider_of(page, address, step):
    """Opens a step of the tour; its slider, once all of its pictures have come, and the last of its values."""
    page.goto(f"{address}/read?step={step}")
    expect(page.locator("figure .panels svg").first).to_be_visible(timeout=60_000)
    settled(page)
    slider = page.locator("figure:has(.panels) input")
    last = int(slider.get_attribute("max"))
    page.wait_for_function(FRAMES_DRAWN, arg=last, timeout=60_000)
    return slider, last


def leafs_with_no_server(page, slider, last):
    """Every value of the slider has a picture of its own, at once, while the browser reaches nobody."""
    page.context.set_offline(True)
    try:
        seen = set()
        for at in range(last + 1):
            took = slider.evaluate(DRAG, at)
            seen.add(page.locator("figure .panels").inner_html())
        assert len(seen) == last + 1
        assert took < 50, "milliseconds; a trip to the server takes hundreds"
    finally:
        page.context.set_offline(False)


def letters_are_as_large_as_those_of_captions(page, width):
    """No letter of the picture is small on the screen, and nothing is wider than it."""
    sizes = "(all) => all.map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"
    # A page that changes its width while it is built is drawn once more for the last one.
    for _ in range(40):
        smallest = min(size for size in page.locator("figure .panels svg text").evaluate_all(sizes) if size)
        if smallest >= 12.4:
            break
        page.wait_for_timeout(250)
    assert smallest >= 12.4
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth") <= width


def test_a_slider_of_the_tour_leafs_through_its_pictures_with_no_server(page, address):
    leafs_with_no_server(page, *slider_of(page, address, "sum"))


def test_a_slider_that_is_let_go_writes_the_address_and_renews_the_page(page, address):
    slider, last = slider_of(page, address, "questions")
    assert last == 11
    says = page.get_by_test_id("stMarkdown").filter(has_text="What the evidence says.")
    expect(says).to_contain_text("scores of head 2")
    slider.focus()
    page.keyboard.press("End")
    expect(says).to_contain_text("scores of head 11")
    page.wait_for_url(re.compile("head=11"))
    expect(slider).to_have_value("11")
    settled(page)
    page.wait_for_function(FRAMES_DRAWN, arg=11, timeout=60_000)
    leafs_with_no_server(page, slider, last)


@pytest.mark.parametrize("width", [1360, 390])
def test_a_picture_of_many_letters_is_read_and_leafed_through_at_every_width(page, address, width):
    page.set_viewport_size({"width": width, "height": 900})
    slider, last = slider_of(page, address, "cut")
    letters_are_as_large_as_those_of_captions(page, width)
    leafs_with_no_server(page, slider, last)


def test_the_self_check_is_answered_by_keyboard_with_no_server(page, address):
    page.goto(f"{address}/read?step=open")
    settled(page)
    first = page.get_by_role("group").filter(has_text="What comes out?")
    expect(first).to_be_visible(timeout=60_000)
    page.context.set_offline(True)
    try:
        options = first.get_by_role("radio")
        options.first.focus()
        page.keyboard.press("Space")
        expect(first.locator(".why")).to_have_text("Not this one. Try again, or first read the step again.")
        expect(first.locator(".right")).to_have_count(0)
        page.keyboard.press("ArrowDown")
        expect(first.locator(".why")).to_contain_text("Right. ")
        expect(first.get_by_role("link")).to_have_attribute("href", re.compile("read.step=concatenation$"))
        expect(page.locator(".score")).to_have_text(re.compile("^0 of 1 right at the first try, 5 to go"))
    finally:
        page.context.set_offline(False)
