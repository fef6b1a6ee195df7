"""Proves that a citation says what is cited, when, of which store and code, and that BibTeX can take it."""

from pathlib import Path

import pytest
import yaml

from analysis import __version__
from analysis.core.provenance import git_sha
from analysis.figures import citation
from analysis.store import read

ROOT = Path(__file__).resolve().parents[2]
LINK = "https://addend.example/probe?text=a%26b&head=3"


def made(**more: str) -> citation.Citation:
    given = {"key": "probe_maps", "title": "Head 3, term by term", "address": LINK, "code": "abc123+"}
    given |= {"accessed": "2026-11-21T12:00:00Z", "store": "0123456789abcdef", "built": "2026-11-20T08:00:00Z"}
    return citation.Citation(**{**given, **more})


@pytest.mark.parametrize("text", [made().plain(), made().bibtex()])
def test_both_forms_hold_title_link_date_store_code_and_version(text: str) -> None:
    parts = ("Head 3, term by term", LINK, "2026-11-21", "0123456789ab", "2026-11-20T08:00:00Z", "abc123+", __version__)
    assert [part for part in parts if part not in text] == []


def test_bibtex_escapes_what_tex_would_run_and_keeps_its_braces_even() -> None:
    entry = made(title=r"50 % of_it & {more}} \input{x → −1 #~^$", address=LINK + "{}").bibtex()
    title = next(line for line in entry.splitlines() if line.strip().startswith("title"))
    assert (
        title.strip()
        == r"title = {50 \% of\_it \& \textbraceleft{}more\textbraceright{}\textbraceright{} "
        + r"\textbackslash{}input\textbraceleft{}x $\rightarrow$ --1 "
        + r"\#\textasciitilde{}\textasciicircum{}\$},"
    )
    depth = 0
    for sign in entry:  # BibTeX counts a brace whatever stands before it
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    assert depth == 0
    assert entry.startswith("@misc{addend-probe-maps-012345,")


def test_a_view_without_a_link_is_cited_without_one() -> None:
    entry = made(address="No link opens this view: it holds your image.").bibtex()
    assert "url =" not in entry
    assert "No link opens this view" in made(address="No link opens this view.").plain()


def test_todays_store_is_the_one_cited(store: Path) -> None:
    about = citation.citation_of("C09", "A claim", LINK)
    meta = read.query("SELECT fingerprint, built FROM meta").iloc[0]
    assert (about.store, about.built, about.code) == (meta.fingerprint, meta.built, git_sha())


def test_the_citation_file_has_our_version() -> None:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert found["version"] == __version__
    assert found["title"] == citation.WORK
    assert found["authors"] == [{"name": citation.AUTHOR}]
