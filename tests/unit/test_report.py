"""Proves that the report is one file that asks nobody for anything, and holds every claim, as text and not as markup.

It is read back with Python's own HTML parser; one chart is really drawn.
"""

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from analysis import links
from analysis.claims import CLAIMS, stored
from analysis.claims.statements import stored as statements
from analysis.claims.stored import EvidenceRow
from analysis.core.colours import VERDICTS
from analysis.figures import export, fonts
from analysis.narrative import report
from analysis.narrative.report import page

STUB = '<svg xmlns="http://www.w3.org/2000/svg"><defs><clipPath id="clip0"/></defs><g clip-path="url(#clip0)"/></svg>'
EVIL = "<script>alert(1)</script><img src=http://evil.example/x>"
LOADS = {"src", "srcset", "data", "poster", "background", "action", "xlink:href"}


class Read(HTMLParser):
    """Tags with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, Any]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def asks(found: Read) -> list[tuple[str, str, Any]]:
    """What a browser would fetch by itself: everything but what a reader follows."""
    return [
        (tag, name, value)
        for tag, given in found.tags
        for name, value in given.items()
        if (name in LOADS or (name == "href" and tag != "a")) and not (value or "").startswith(("#", "data:"))
    ]


@pytest.fixture(scope="module")
def made(built: Path) -> str:
    """The report of the committed data, with a stub for every chart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADDEND_STORE", str(built))
        return report.html(draw=lambda figure, link: STUB, link=links.link, faces=fonts.faces)


def test_it_asks_nobody_for_anything(made: str) -> None:
    found = Read(made)
    assert asks(found) == []
    assert not {"script", "link", "iframe", "object", "embed", "img"} & {tag for tag, _ in found.tags}
    assert not [name for _, given in found.tags for name in given if name.startswith("on")]
    styles = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    assert styles
    assert not any("@import" in style for style in styles)
    # The typeface is in the page.
    assert [asked[:10] for style in styles for asked in re.findall(r"url\(([^)]*)", style)] == ["data:font/"]


def test_what_would_ask_is_found_by_this_test() -> None:
    for markup in ("<img src='http://x/y'>", "<link href='//x/y.css'>", "<image xlink:href='https://x'/>"):
        assert asks(Read(markup))
    assert not asks(Read("<a href='https://x'>x</a><use href='#y'/><img src='data:image/png;base64,'>"))


def test_it_holds_every_claim_in_full(store: Path, made: str) -> None:
    found = Read(made)
    sections = [given["id"] for tag, given in found.tags if tag == "section"]
    assert sorted(sections) == [heading.id for heading in statements.headings()]
    inside = {given["href"][1:] for tag, given in found.tags if tag == "a" and given["href"].startswith("#")}
    assert set(CLAIMS) <= inside, "contents lead to every claim"
    words = " ".join(found.text.split())
    for entry in stored.ledger():
        for text in (entry.title, entry.statement, entry.rule, entry.sentence, entry.asks, *entry.changed):
            assert " ".join(text.split()) in words
        for line in entry.evidence:
            assert " ".join(line.says.split()) in words
            assert " ".join(line.caveat.split()) in words

    for one in statements.statements():
        for text in (one.id, one.verdict, one.statement, one.sentence, one.would_decide):
            assert " ".join(text.split()) in words
    later = sum(bool(entry.changed) for entry in stored.ledger())
    assert later > 0, "C17's rule was"
    assert found.text.count("Changed after its verdict was known") == later
    assert found.text.count("The rule, written before looking") == len(stored.ledger()) - later


def test_every_name_inside_is_given_once_and_every_inner_link_leads_somewhere(made: str) -> None:
    found = Read(made)
    names = Counter(given["id"] for _, given in found.tags if "id" in given)
    assert max(names.values()) == 1, names.most_common(3)
    for tag, given in found.tags:
        if tag == "a" and given["href"].startswith("#"):
            assert given["href"][1:] in names
    assert "url(#C09-clip0)" in made


def test_it_can_be_cited_and_says_what_it_is_of(store: Path, made: str) -> None:
    about = page.citation.citation_of("report", "x", "x")
    assert about.store[:12] in made
    assert about.code in made
    assert "@misc{addend-report" in made
    assert "@inproceedings{ke2021tupe" in made or "@article{ke2021tupe" in made


def test_it_has_a_light_a_dark_and_a_printed_form(made: str) -> None:
    assert "prefers-color-scheme: dark" in made
    assert "@media print" in made
    assert 'name="viewport"' in made


def test_texts_are_text(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_STORE", str(built))
    line = EvidenceRow(
        side="for", says=EVIL, value=float("nan"), low=None, high=None, unit=EVIL, source=EVIL, citation=None,
        caveat=EVIL, query=EVIL, page=None, values={},
    )  # fmt: skip
    entries = stored.ledger()
    evil = {name: EVIL for name in ("title", "statement", "rule", "sentence", "asks", "command", "missing", "measured")}
    changed = type(entries[0])(**{**vars(entries[0]), **evil, "evidence": (line,), "queries": {"q": EVIL}})
    monkeypatch.setattr(page.stored, "ledger", lambda: (changed, *entries[1:]))
    found = Read(report.html(draw=lambda figure, link: STUB, link=links.link, faces=fonts.faces))
    assert asks(found) == []
    assert not {"script", "img"} & {tag for tag, _ in found.tags}
    assert EVIL in found.text


def test_a_chart_is_drawn_into_the_page(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADDEND_STORE", str(built))
    figure = page.FIGURES["claim_evidence"].make({"claim": "C09"})
    drawn = page.prefix_ids(export.render(figure, "svg", "https://addend.example/").decode(), "C09")
    found = Read(drawn)
    assert asks(found) == []
    assert "all-MiniLM-L6-v2" in found.text
    used = set(re.findall(r"url\(#([^)]+)\)", drawn))
    assert used <= {given["id"] for _, given in found.tags if "id" in given}


def test_verdicts_have_the_colours_of_the_dashboard(made: str) -> None:
    for verdict, colour in VERDICTS.items():
        assert f"--{verdict}: {colour.light}" in made
        assert f"--{verdict}: {colour.dark}" in made
    style = made.partition("</style>")[0]
    assert len(re.findall(r"border-left: \.5rem (?:solid|double) var\(--", style)) == len(VERDICTS) + 1
