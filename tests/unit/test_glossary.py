"""Proves that the glossary explains words that stand on screen, and finds them as words."""

import re

import pytest

from analysis.core.provenance import ROOT
from analysis.narrative.glossary import DEFINITIONS, GROUPS, definitions_in, matching_terms, occurrences

SHOWN = "\n".join(
    path.read_text(encoding="utf-8")
    for folder in ("analysis/figures", "analysis/measurements", "analysis/narrative", "dashboard/views")
    for path in (ROOT / folder).rglob("*.py")
    if path.name != "glossary.py"
)


@pytest.mark.parametrize("word", DEFINITIONS)
def test_a_word_that_is_explained_stands_on_screen_and_is_explained_in_sentences(word: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", SHOWN, re.IGNORECASE)
    assert DEFINITIONS[word][0].isupper()
    assert DEFINITIONS[word].endswith(".")


def test_words_are_found_whole_in_their_order_and_once() -> None:
    text = "Key-centred scores are in NATS; a preseed, unfrozen seeds, nats again. KL 3."
    assert list(definitions_in(text)) == ["key-centred", "nats", "seed", "KL"]
    assert definitions_in("nothing of the kind") == {}


def test_an_occurrence_is_where_the_term_stands() -> None:
    text = "Two seeds of TUPE-A ([CLS] tied) and a cross term."
    assert [(text[start:end], term) for start, end, term in occurrences(text)] == [
        ("seeds", "seed"),
        ("TUPE-A ([CLS] tied)", "TUPE-A ([CLS] tied)"),
        ("cross term", "cross term"),
    ]


def test_a_search_finds_words_and_definitions_and_nothing_else() -> None:
    everything = matching_terms("")
    assert {group: set(terms) for group, terms in everything.items()} == {key: set(of) for key, of in GROUPS.items()}
    found = [term for terms in matching_terms("Segment").values() for term in terms]
    assert found == [
        term for terms in everything.values() for term in terms if "segment" in (term + DEFINITIONS[term]).lower()
    ]
    assert found
    assert "TUPE-A" in [term for terms in matching_terms("matrices tupe").values() for term in terms]
    assert matching_terms("no such word") == {}
