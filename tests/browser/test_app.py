"""A reader's path in a real browser: open, pick, share the link, download the figure, probe a text, save it."""

import xml.etree.ElementTree as ET
from urllib.parse import parse_qs, urlsplit

import pytest
from PIL import ImageFont
from playwright.sync_api import expect

from analysis.figures import fonts
from dashboard.session.rooms import ROOMS
from tests.browser.conftest import DESK, settled

pytestmark = pytest.mark.browser


def parameters(page) -> dict[str, list[str]]:
    return parse_qs(urlsplit(page.url).query)


def test_the_list_has_eight_rooms_and_marks_the_one_that_is_open(page, address):
    page.goto(f"{address}/runs")
    settled(page)
    listed = page.locator("[data-testid=stSidebarNavLink]")
    rooms = [room.title for room in ROOMS]
    assert len(rooms) == 8
    expect(listed).to_have_count(len(rooms))
    for number, title in enumerate(rooms):
        expect(listed.nth(number)).to_contain_text(title)
    expect(page.locator("[data-testid=stSidebarNavLink][aria-current=page]")).to_contain_text("Data")
    assert page.title() == "Runs · Addend"
    page.locator(".st-key-doors").get_by_role("link", name="SQL").click()
    page.wait_for_url("**/sql*")
    expect(page.locator("[data-testid=stMain] h1")).to_have_text("SQL")
    expect(page).to_have_title("SQL · Addend")
    page.locator("[data-testid=stSidebar]").get_by_role("link", name="Status").click()
    page.wait_for_url("**/status*")
    page.goto(f"{address}/claims?claim=C13")
    settled(page)
    expect(page).to_have_title("C13 · Addend")


def test_a_picked_state_is_in_the_link_which_reopens_it_and_the_back_button_leaves_it(page, other, address):
    page.goto(f"{address}/inside?over=corpus")
    settled(page)
    page.get_by_role("radio", name="Effect").click()
    page.wait_for_url("**measure=effect**")
    page.go_back()
    expect(page.get_by_role("radio", name="Share")).to_be_checked()
    page.go_forward()
    expect(page.get_by_role("radio", name="Effect")).to_be_checked()
    settled(page)
    page.get_by_role("button", name="Options", exact=True).click()
    page.get_by_text("Whole words").click()
    page.wait_for_url("**words=1**")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Copy link").click()
    link = page.locator("[data-testid=stPopoverBody] [data-testid=stCode]").inner_text().strip()
    assert parse_qs(urlsplit(link).query)["measure"] == ["effect"]

    other.set_viewport_size(DESK)
    other.goto(link)
    settled(other)
    expect(other.get_by_role("radio", name="Effect")).to_be_checked()
    expect(other.get_by_text("effect on the pattern (KL, nats)", exact=False).first).to_be_visible()
    other.get_by_role("button", name="Options", exact=True).click()
    expect(other.get_by_role("switch", name="Whole words")).to_be_checked()
    assert parameters(other) == parse_qs(urlsplit(link).query)


def test_a_figure_downloads_as_svg_with_its_manifest(page, address, tmp_path):
    page.goto(f"{address}/inside?over=corpus")
    settled(page)
    page.get_by_role("button", name="More about this figure").first.click()
    page.get_by_role("menuitem", name="Export").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    file = tmp_path / "figure.svg"
    download.value.save_as(file)
    root = ET.parse(file).getroot()
    assert root.tag.endswith("svg")
    metadata = root.find("{http://www.w3.org/2000/svg}metadata")
    assert metadata is not None
    assert "all-MiniLM-L6-v2" in (metadata.text or "")
    assert "word → position" in file.read_text(encoding="utf-8")
    # A reader without Source Sans sees the same: the file carries it, and nothing is wider than what was laid out.
    page.goto(file.as_uri())
    page.evaluate("document.fonts.ready")
    texts = "[...document.querySelectorAll('text')].find(one => one.textContent.trim() === 'word → position')"
    drawn, size = page.evaluate(
        f"(() => {{ const one = {texts}; return [one.getComputedTextLength(), getComputedStyle(one).fontSize]; }})()"
    )
    source = ImageFont.truetype(str(fonts.FOLDER / fonts.WEIGHTS["normal"]), 1000)
    assert drawn == pytest.approx(source.getlength("word → position") / 1000 * float(size.removesuffix("px")), rel=0.01)


def test_a_text_is_probed_saved_and_reopened_by_its_id(page, other, address):
    page.goto(f"{address}/inside")
    settled(page)
    page.get_by_label("Text", exact=True).fill("Sums keep their parts.")
    page.get_by_role("button", name="Take apart").click()
    page.wait_for_url("**text=Sums+keep+their+parts.**")
    expect(page.get_by_text("; 7 tokens.", exact=False).locator("visible=true").first).to_be_visible()
    page.get_by_text("or save this probe", exact=False).click()
    page.get_by_role("button", name="Save probe").click()
    page.wait_for_url("**probe=**")
    assert "text" not in parameters(page)

    other.set_viewport_size(DESK)
    other.goto(page.url)
    settled(other)
    expect(other.get_by_text("; 7 tokens.", exact=False).locator("visible=true").first).to_be_visible()
    expect(other.get_by_text("Showing the saved probe", exact=False)).to_be_visible()


def test_a_link_to_a_part_of_the_method_opens_it(page, address):
    page.goto(f"{address}/about#share")
    settled(page)
    expect(page.get_by_text("The share of a term in a head is its part", exact=False)).to_be_visible()
    effect = page.get_by_text("The effect of a term is the change", exact=False)
    expect(effect).to_be_hidden()
    page.evaluate("location.hash = 'effect'")
    expect(effect).to_be_visible()


def test_a_table_on_screen_has_no_csv_of_its_own(page, address):
    """It would not pass `analysis.core.csv_export`, so that a cell such as =HYPERLINK(...) would leave as a formula."""
    page.goto(f"{address}/runs?kind=costs")
    settled(page)
    page.locator("[data-testid=stDataFrame]").first.hover()
    expect(page.get_by_role("button", name="Search").first).to_be_visible()
    expect(page.get_by_role("button", name="Download as CSV")).to_have_count(0)


def test_a_long_text_gets_no_link_but_is_told_how(page, address):
    page.goto(f"{address}/inside")
    settled(page)
    page.get_by_label("Text", exact=True).fill("anticonstitutionally " * 400)
    page.get_by_role("button", name="Take apart").click()
    page.get_by_role("button", name="Cut the text and go on").click()
    expect(page.get_by_text("The text was cut from", exact=False)).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Copy link").click()
    expect(page.get_by_text("Save the probe", exact=False)).to_be_visible()


def test_an_address_in_a_readers_text_is_no_link(page, address):
    """The browser makes links of addresses after a text's escapes are resolved."""
    page.goto(f"{address}/inside?probe=http://evil.example/a+www.evil.example+b@evil.example")
    expect(page.get_by_text("There is no saved probe").first).to_contain_text("evil.example/a")
    expect(page.locator("a[href*=evil]")).to_have_count(0)
