"""Proves that the page of claims is one file that asks nobody for anything, and holds every claim, as text.

It is read back with Python's own HTML parser.
"""

import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from analysis import links
from analysis.claims import CLAIMS, DOCUMENTS
from analysis.claims.statements import stored as statements
from analysis.core.colours import VERDICTS
from analysis.figures.claims import board
from analysis.narrative import site
from analysis.narrative.site import pages

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


@pytest.fixture
def made(store: Path) -> str:
    """The page of the committed data, alone."""
    return site.claims(links.link, alone=True)


def test_it_asks_nobody_for_anything(made: str) -> None:
    found = Read(made)
    assert asks(found) == []
    assert not {"link", "iframe", "object", "embed", "img"} & {tag for tag, _ in found.tags}
    assert not [name for _, given in found.tags for name in given if name.startswith("on")]
    styles = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    assert styles
    assert not any("@import" in style or "url(" in style for style in styles)


def test_what_would_ask_is_found_by_this_test() -> None:
    for markup in ("<img src='http://x/y'>", "<link href='//x/y.css'>", "<image xlink:href='https://x'/>"):
        assert asks(Read(markup))
    assert not asks(Read("<a href='https://x'>x</a><img src='data:image/png;base64,'>"))


def test_it_holds_every_claim_in_full(made: str) -> None:
    found = Read(made)
    sections = [given["id"] for tag, given in found.tags if tag == "details" and "id" in given]
    assert sorted(sections) == [heading.id for heading in statements.headings()], "every claim once"
    assert set(CLAIMS) - set(sections) == {"C33"}, "its only statement was withdrawn"
    words = " ".join(found.text.split())
    for heading in statements.headings():
        quoted = [one.words for one in heading.quotations]
        for text in (heading.title, heading.statement, *quoted, *(change.words for change in heading.changes)):
            assert " ".join(text.split()) in words
    for one in statements.statements():
        for text in (one.id, one.verdict, one.statement, one.sentence, one.would_decide, one.rule):
            assert " ".join(text.split()) in words
        assert words.count(f"{one.id}, {one.scope}") == 1


def test_every_name_inside_is_given_once_and_every_inner_link_leads_somewhere(made: str) -> None:
    found = Read(made)
    names = Counter(given["id"] for _, given in found.tags if "id" in given)
    assert max(names.values()) == 1, names.most_common(3)
    followed = [given["href"][1:] for tag, given in found.tags if tag == "a" and given["href"].startswith("#")]
    assert set(followed) == {f"document-{key}" for key in DOCUMENTS}
    assert set(followed) <= set(names)


def test_it_has_a_light_a_dark_and_a_printed_form(made: str) -> None:
    assert "prefers-color-scheme: dark" in made
    assert "@media print" in made
    assert 'name="viewport"' in made


def test_texts_are_text(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heading = statements.headings()[0]
    part = replace(heading.parts[0], statement=EVIL, sentence=EVIL, scope=EVIL, unit=EVIL, would_decide=EVIL, rule=EVIL)
    evil = replace(heading, title=EVIL, statement=EVIL, parts=(part,))
    monkeypatch.setattr(statements, "headings", lambda: (evil,))
    monkeypatch.setattr(pages, "board", board.board.__wrapped__)
    found = Read(site.claims(links.link, alone=True))
    assert asks(found) == []
    assert "img" not in {tag for tag, _ in found.tags}
    assert [tag for tag, _ in found.tags].count("script") == 1, "its own"
    assert found.text.count(EVIL) >= 6


def test_verdicts_have_the_colours_of_the_dashboard(made: str) -> None:
    for verdict, colour in VERDICTS.items():
        assert f"--{verdict}: {colour.light}" in made
        assert f"--{verdict}: {colour.dark}" in made
