"""Every page opens and draws, in light, in dark and on a phone, and breaks no rule of accessibility that matters.

Those are the serious and critical ones of axe-core. Left out is what Streamlit draws and we cannot change: the list of
pages puts the heads of its sections beside its items, so that axe-core finds no list there.
"""

from collections.abc import Iterator
from importlib.resources import files

import pytest
from playwright.sync_api import Browser, Page, expect

from analysis.core.colours import LINK
from analysis.links import VIEWS
from tests.app.shown import PAGES
from tests.browser.conftest import WAIT_SECONDS, settled

pytestmark = pytest.mark.browser

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
STREAMLITS_OWN = "[data-testid=stSidebarNav]"
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""The rules of axe-core that depend on colours."""
RUN = """async ([left_out, rules]) => {
  const options = {resultTypes: ["violations"], preload: false, ...(rules.length && {runOnly: rules})};
  const result = await axe.run({exclude: [[left_out]]}, options);
  return result.violations
    .filter((rule) => ["serious", "critical"].includes(rule.impact))
    .flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 200)} ${node.failureSummary}`));
}"""
ACCENT = """(accent) => {
  const style = getComputedStyle(document.documentElement);
  return style.getPropertyValue("--addend-css").trim() && style.getPropertyValue("--accent").trim() === accent;
}"""
"""Whether our own colours have reached the page, and are those of its ground."""
INSIDE = (
    "inside?layer2=1",
    "inside?over=corpus",
    "inside?tab=layers&over=corpus&look=heads",
    "inside?tab=positions",
    "inside?tab=change",
    "inside?image=scene&model=tiny-random-vit",
)
"""Views of Look inside besides the one that it opens with."""
WIDTHS = (1400, 390)
"""Pixels: a desk and a phone."""
TITLE_AT = 110
"""Pixels from the top within which a title begins, below the links to the other pages of its room."""
WITH_LINK = ("claims", "choose", "inside", "experiments")
"""Pages whose title begins at the top, and whose button for the link lies free: those with a form or a board above."""
FITS = """(width) => innerWidth === width && document.querySelector("[data-testid=stMain]").scrollWidth <= width"""
SMALLEST_TEXT = 12
"""Pixels. Indices in formulas are smaller, as everywhere in print."""
SMALL = """(least) => {
  const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement, text = walker.currentNode.textContent.trim();
    const box = element.getBoundingClientRect();
    if (!text || !box.width || !box.height || element.closest("style, script, .katex")) continue;
    if (parseFloat(getComputedStyle(element).fontSize) < least) found.push(text);
  }
  return found;
}"""


@pytest.fixture(scope="module")
def tab(browser: Browser) -> Iterator[Page]:
    """One tab for all pages, which compiles Streamlit's own scripts once."""
    context = browser.new_context(bypass_csp=True, reduced_motion="reduce")
    context.set_default_timeout(WAIT_SECONDS * 1000)
    yield context.new_page()
    context.close()


def check(page: Page, width: int, *rules: str) -> None:
    """At this width nothing is cut off at the side, no rule (of these, if any) is broken and no text is too small."""
    page.set_viewport_size({"width": width, "height": 900})
    page.wait_for_function(FITS, arg=width)
    assert page.evaluate(RUN, [STREAMLITS_OWN, rules]) == []
    assert page.evaluate(SMALL, SMALLEST_TEXT) == []


@pytest.mark.parametrize("path", [*PAGES, *INSIDE])
def test_every_page_draws_can_be_read_and_fits(page: Page, address: str, path: str) -> None:
    """At both widths in light and then, because the reader's system turns dark, in dark, where colours alone differ."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    # Of runs, only a training has something to draw; a reader's query is a table until a chart is asked for.
    asked = {"runs": "?kind=curves", "sql": "?part=chart"}
    page.goto(f"{address}/{path}{asked.get(path, '')}")
    settled(page)
    page.wait_for_function(ACCENT, arg=LINK.on(dark=False))
    expect(page.locator("[data-testid=stMain] h1")).not_to_be_empty()
    if path in WITH_LINK:
        box = page.locator("[data-testid=stMain] h1").bounding_box()
        assert box
        assert box["y"] < TITLE_AT
        page.get_by_role("button", name="Copy link").click(trial=True)  # nothing lies over it
    expect(page.locator("[data-testid=stException]")).to_have_count(0)
    expect(page.get_by_role("dialog")).to_have_count(0)
    if VIEWS[path.partition("?")[0]].figures and not page.get_by_text("stored yet").count():
        expect(page.locator("[data-testid=stVegaLiteChart], [data-testid^=stBidiComponent] svg").first).to_be_visible()
    page.evaluate(AXE)
    for width in WIDTHS:
        check(page, width)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(ACCENT, arg=LINK.on(dark=True))
    settled(page)
    for width in WIDTHS:
        check(page, width, *COLOUR_RULES)


def test_the_rules_find_what_is_broken(browser):
    page = browser.new_page()
    page.set_content('<main style="background:#fff"><p style="color:#bbb;font-size:9px">faint</p><img src="x"></main>')
    page.evaluate(AXE)
    broken, in_colour = (page.evaluate(RUN, [STREAMLITS_OWN, rules]) for rules in ([], COLOUR_RULES))
    assert {problem.split(":")[0] for problem in broken} >= {"color-contrast", "image-alt"}
    assert {problem.split(":")[0] for problem in in_colour} == {"color-contrast"}
    assert page.evaluate(SMALL, SMALLEST_TEXT) == ["faint"]
    page.close()


def test_a_page_turns_dark_on_a_slow_computer_too(page: Page, address: str) -> None:
    page.emulate_media(color_scheme="light")
    page.goto(f"{address}/read")
    settled(page)
    page.wait_for_function(ACCENT, arg=LINK.on(dark=False))
    browser_tools = page.context.new_cdp_session(page)
    browser_tools.send("Emulation.setCPUThrottlingRate", {"rate": 20})
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(ACCENT, arg=LINK.on(dark=True))
    browser_tools.detach()
