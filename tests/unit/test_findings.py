"""The headings of figures: what they show, in a sentence that can be read aloud."""

import re

import pytest

from analysis.core.errors import LinkError
from analysis.core.term_names import FOUR
from analysis.figures import FIGURES
from analysis.links import VIEWS

pytestmark = pytest.mark.usefixtures("store")

STORED = [(page, name) for page, view in VIEWS.items() for name in view.figures if FIGURES[name].live is None]
BARE = {"sql_chart"}
"""A reader's own query: what it shows is the reader's to say."""
LONGEST = 175


@pytest.mark.parametrize(("page", "name"), STORED)
def test_a_heading_is_a_finding_with_its_numbers(page: str, name: str) -> None:
    try:
        figure = FIGURES[name].make(VIEWS[page].defaults() | ({"claim": "C09"} if page == "claims" else {}))
    except LinkError as needed:
        pytest.fail(f"{name} does not open by its page's own link: {needed}")
    assert bool(figure.finding) == (name not in BARE)
    assert not figure.heading[0].islower() or figure.heading.startswith("all-MiniLM") or not figure.finding
    assert not figure.heading.endswith(".")
    assert len(figure.heading) <= LONGEST
    assert not re.search(r"\bnan\b|None|  |\{|-0\.0+\b", figure.heading)


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_the_leading_term_is_that_of_the_data(measure: str) -> None:
    figure = FIGURES["terms_heads"].make(VIEWS["terms"].defaults() | {"measure": measure})
    four = figure.frame().pivot(index="head", columns="term", values=measure)[list(FOUR)]
    leads = four.idxmax(axis=1).value_counts()
    assert f"in {leads.iloc[0]} of {len(four)} heads" in figure.finding
    assert leads.index[0].replace("_to_", " → ") in figure.finding.lower()
