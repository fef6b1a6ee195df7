"""Proves that the static site is whole: every link inside it leads somewhere, nothing is fetched, the data are ours."""

import gzip
import json
import re
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest

from analysis import links
from analysis.narrative import site
from analysis.narrative.answer.stored_answer import answer
from analysis.narrative.reading import ordered, still_open
from analysis.store import read
from tests.unit.test_report import LOADS, STUB, Read

EVIL = "</script><script>alert(1)</script>"


pytestmark = pytest.mark.usefixtures("store")


@pytest.fixture
def files(store) -> dict[str, str]:
    return site.files(draw=lambda figure, link: STUB, link=links.link, faces=lambda drawn: "")


def pages(files: dict[str, str]) -> dict[str, Read]:
    return {name: Read(text) for name, text in files.items() if name.endswith(".html")}


def test_every_link_inside_leads_somewhere(files) -> None:
    read_pages = pages(files)
    anchors = {name: {attrs.get("id") for _, attrs in page.tags} for name, page in read_pages.items()}
    followed = 0
    for name, page in read_pages.items():
        for tag, attrs in page.tags:
            address = urlsplit(attrs.get("href", "") if tag == "a" else "")
            if address.scheme or not (address.path or address.fragment):
                continue
            target = str(PurePosixPath(address.path)) if address.path else name
            assert target in files, f"{name} links to {target}"
            assert not address.fragment or address.fragment in anchors[target], f"{name} links to {attrs['href']}"
            followed += 1
    assert followed > 50


def test_nothing_is_fetched(files) -> None:
    for name, page in pages(files).items():
        loads = [(tag, key) for tag, attrs in page.tags for key in attrs if key in LOADS or (tag == "link")]
        assert not loads, name


def test_the_answer_and_every_step_of_the_tour_are_there(files) -> None:
    home, tour = Read(files["index.html"]).text, Read(files["tour.html"]).text
    assert answer()
    assert all(line in home for step in answer() if step.name != "still_open" for line in step.sentence.splitlines())
    assert all(line in home for step in answer() for line in step.further.splitlines())
    assert all(step.title in tour for step in ordered())
    assert all(one.statement.would_decide in tour for one in still_open.experiments())


def test_the_data_are_those_of_the_store(files) -> None:
    claims = json.loads(files["data/claims.json"])
    assert len(claims) == read.query("SELECT count(*) AS n FROM claims").n.iloc[0]
    assert [row["sentence"] for row in json.loads(files["data/answer.json"])] == [step.sentence for step in answer()]
    parts = [part["id"] for name in files if name.startswith("data/claims/C") for part in json.loads(files[name])]
    assert len(parts) == len(set(parts)) == read.query("SELECT count(*) AS n FROM statements").n[0]


def test_no_text_ends_the_script(monkeypatch) -> None:
    from analysis.narrative.site import pages as module

    monkeypatch.setattr(module.hero, "asset", lambda name: EVIL if name.endswith("js") else "")
    made = site.files(draw=lambda figure, link: STUB, link=links.link, faces=lambda drawn: "")
    assert EVIL not in made["index.html"]
    assert len(re.findall("</script>", made["index.html"])) == 1


def test_links_lead_to_the_hosted_dashboard_or_there_are_none(store) -> None:
    """And the answer, which a reader loads first, is at most 10 kB as web servers send it, compressed."""
    hosted = "https://addend.example.org/base"

    def addresses(link) -> set[str]:
        made = site.files(draw=lambda figure, link: STUB, link=link, faces=lambda drawn: "")
        assert len(gzip.compress(made["index.html"].encode())) <= 10_000
        read_pages = pages({name: made[name] for name in ("index.html", "tour.html", "claims.html")})
        for name, page in read_pages.items():
            beside = {attrs.get("href") for tag, attrs in page.tags if tag == "a"}
            assert set(read_pages) - {name} <= beside, "every page is reached from every other"
        return {attrs["href"] for page in read_pages.values() for tag, attrs in page.tags if "href" in attrs}

    theirs = {
        address for address in addresses(lambda page, values: links.link(page, values, hosted)) if hosted in address
    }
    assert len(theirs) > 10
    assert all(address.startswith(f"{hosted}/") for address in theirs)
    without = addresses(lambda page, values: "")
    assert "" not in without
    assert not [address for address in without if "localhost" in address or "/read" in address]
