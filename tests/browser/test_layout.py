"""What stands around a page's content: the keyboard's outline, the buttons on charts, and what moves."""

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.hosting.layout import WIDTH
from tests.browser.conftest import free_port, running, settled

pytestmark = pytest.mark.browser

SHIFTS = """() => {
  window.shifts = [];
  window.layoutShift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.layoutShift += entry.hadRecentInput ? 0 : entry.value;
    for (const entry of list.getEntries()) for (const source of entry.sources) {
      const moved = Math.abs(source.currentRect.x - source.previousRect.x);
      const width = Math.min(source.currentRect.width, source.previousRect.width);
      if (width > window.innerWidth / 3) window.shifts.push(moved);
    }
  }).observe({type: "layout-shift", buffered: true});
}"""
"""Records how far to the side the page's wide parts move; a word moves when the one beside it is drawn. And the
cumulative layout shift, of which a tenth or less counts as good."""


@pytest.mark.parametrize(
    "path", ["inside?over=corpus", "experiments?part=curves", "geometry?part=words", "experiments?part=published"]
)
def test_a_charts_only_button_of_its_own_is_full_screen(page: Page, address: str, path: str) -> None:
    """The others would show one layer's data, and a picture without its manifest. A keyboard does not stop there."""
    page.goto(f"{address}/{path}")
    settled(page)
    frame = page.locator("[data-testid=stFullScreenFrame]", has=page.locator("[data-testid=stVegaLiteChart]")).first
    frame.scroll_into_view_if_needed()
    frame.hover()
    buttons = frame.locator("[data-testid=stElementToolbar] button")
    expect(buttons.filter(visible=True)).to_have_count(1)
    expect(buttons.filter(visible=True)).to_have_attribute("aria-label", re.compile("^Fullscreen"))
    buttons.filter(visible=True).click()
    expect(frame.get_by_role("button", name=re.compile("^Close fullscreen"))).to_be_visible()


def test_the_keyboard_is_seen_and_a_pointer_is_not(page: Page, address: str) -> None:
    page.goto(f"{address}/runs")
    settled(page)
    outline = "(element) => getComputedStyle(element).outlineStyle + ' ' + getComputedStyle(element).outlineWidth"
    for selector in ("[data-testid=stSidebarNavLink]", ".st-key-doors a"):
        link = page.locator(selector).nth(1)
        link.hover()
        assert link.evaluate(outline) != "solid 2px"
        page.locator(selector).first.focus()
        for _ in range(20):
            page.keyboard.press("Tab")
            if link.evaluate("(element) => element === document.activeElement"):
                break
        assert link.evaluate(outline) == "solid 2px", selector


def test_a_hosted_page_stands_still_while_it_is_drawn(browser, tmp_path, built) -> None:
    """The server sends the room of the list of pages, and that of the content, with the page itself."""
    with running(tmp_path, built, free_port(), script="dashboard/server.py") as address:
        page = browser.new_context(viewport={"width": 1400, "height": 900}).new_page()
        page.add_init_script(f"({SHIFTS})()")
        page.goto(f"{address}/inside?tab=layers&over=corpus")
        settled(page)
        expect(page.locator("[data-testid=stSidebarNavLink]").first).to_be_visible()
        assert max(page.evaluate("window.shifts"), default=0) < WIDTH / 10
        page.goto(f"{address}/inside")
        settled(page)
        expect(page.locator(".why h3")).to_be_visible()
        assert page.evaluate("window.layoutShift") < 0.1
        page.context.close()


def test_on_a_phone_the_picture_of_a_way_has_the_width_of_its_row(page: Page, address: str) -> None:
    """So that an interval is seen on both sides of its dot; the name and the numbers stand above it."""
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address)
    settled(page)
    row = page.locator(".answer .ways tbody tr").nth(1)
    whole, track, value, name = (
        row.locator(part).bounding_box() if part else row.bounding_box() for part in ("", ".track", ".value", "th")
    )
    assert whole
    assert track
    assert value
    assert name
    assert track["width"] > 0.9 * whole["width"]
    assert track["y"] >= max(one["y"] + one["height"] for one in (value, name)) - 1
    interval, dot = (row.locator(f".track .{part}").bounding_box() for part in ("interval", "dot"))
    assert interval
    assert dot
    assert interval["width"] > 1.5 * dot["width"]
