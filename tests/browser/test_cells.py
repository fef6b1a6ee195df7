"""A press on a cell of a map opens its tokens and terms, on every page that has maps."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import settled

pytestmark = pytest.mark.browser

PRESSED = {
    "inside?layer2=5": ("^left", 2 * 13 + 4, "query=2&key=4"),
    "inside?tab=layers&over=corpus&look=heads": ("^Heat map of 6 layers", 2 * 12 + 5, "at_layer=.&at_head="),
    "inside?image=scene&model=tiny-random-vit": ("^total", 10, "key="),
}
"""By page: which map, which of its cells, and what the address then says."""


@pytest.mark.parametrize("path", PRESSED)
def test_a_press_on_a_cell_opens_its_terms(page, address, path):
    name, number, says = PRESSED[path]
    page.goto(f"{address}/{path}")
    settled(page)
    chart = page.locator("[data-testid=stVegaLiteChart]").filter(has=page.locator("svg, canvas"))
    chart = chart.and_(page.get_by_label(re.compile(name))) if name else chart
    chart.first.scroll_into_view_if_needed()
    chart.first.locator("path[aria-roledescription='rect mark']").nth(number).click(force=True)
    expect(page).to_have_url(re.compile(says))
    settled(page)
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    expect(
        page.locator(
            "[data-testid=stVegaLiteChart][aria-label^='Bars, one a term'], "
            "[data-testid=stVegaLiteChart][aria-label*='terms on two sides']"
        ).first
    ).to_be_attached()


GRADIENTS = """() => [...document.querySelectorAll('svg [fill^="url("]')].map((node) => {
  const [, page, id] = /^url\\("?([^#]*)(#[^")]+)/.exec(node.getAttribute("fill"));
  return (!page || page === location.href.split("#")[0]) && Boolean(node.ownerSVGElement.querySelector(id));
})"""


def test_keys_keep_their_colours_when_the_address_changes(page, address):
    """Vega names a gradient by the whole address of the page, which a press changes."""
    page.goto(f"{address}/inside?image=scene&model=tiny-random-vit")
    settled(page)
    before = page.evaluate(GRADIENTS)
    assert before
    page.get_by_role("radio", name="Every head").or_(page.get_by_role("button", name="Every head")).first.click()
    expect(page).to_have_url(re.compile("look=heads"))
    settled(page)
    assert all(page.evaluate(GRADIENTS))
