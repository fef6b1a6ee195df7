"""The headings of figures: what they show, in a sentence that can be read aloud."""

import re

import pytest

from analysis.core.errors import LinkError
from analysis.figures import FIGURES, Figure, paper_table
from analysis.links import VIEWS
from analysis.moved_links import MOVED

pytestmark = pytest.mark.usefixtures("store")

STORED = [
    (page, name)
    for page, view in VIEWS.items()
    for name in view.figures
    if page not in MOVED and FIGURES[name].live is None
]
OPENED = {
    "claims": {"claim": "C09"},
    "experiments": {"preset": "cpu"},
    "training_loss_and_cost": {"preset": "width128"},
}
"""Page, or figure -> the fields with which it has something to show."""
LONGEST = 175
LONGEST_TABLE = 180
"""Lines of a table for a paper; of a map of heads by terms there are as many."""


@pytest.mark.parametrize(("page", "name"), STORED)
def test_a_heading_is_a_finding_with_its_numbers(page: str, name: str) -> None:
    try:
        figure = FIGURES[name].make(VIEWS[page].defaults() | OPENED.get(page, {}) | OPENED.get(name, {}))
    except LinkError as needed:
        pytest.fail(f"{name} does not open by its page's own link: {needed}")
    assert figure.finding
    assert not figure.heading[0].islower() or figure.heading.startswith("all-MiniLM") or not figure.finding
    assert not figure.heading.endswith(".")
    assert len(figure.heading) <= LONGEST
    assert not re.search(r"\bnan\b|None|  |\{|-0\.0+\b", figure.heading)
    holds_what_a_paper_needs(figure)


def holds_what_a_paper_needs(figure: Figure) -> None:
    """A figure of intervals or of seeds has a table of means, intervals and samples that a page of a paper holds."""
    frame = figure.frame()
    columns = set(frame.columns)
    enclosing = {"value", "low", "high"} <= columns and frame.value.between(frame.low, frame.high).all()
    table = paper_table.of_figure(figure)
    assert table is not None or not (enclosing or {"seed", "value"} <= columns)
    if table is None:
        return
    assert len(table.rows) <= max(LONGEST_TABLE, len(frame) // 2)
    assert table.labels, "a line says what it is about"
    markdown, latex = paper_table.markdown(table).splitlines(), paper_table.latex(table).splitlines()
    assert len(markdown) == len(table.rows) + 2
    assert len(latex) == len(table.rows) + 6
    assert "S[table-format=" in latex[0]
    assert {line.count(" | ") for line in markdown} == {len(markdown[0].split(" | ")) - 1}
    known = table.rows["mean"].notna()
    printed = [cells[len(table.labels)] for cells in table.cells(paper_table.WrittenForLatex())[1:]]
    numbers = [float(text) for text, there in zip(printed, known, strict=True) if there]
    assert numbers == pytest.approx(list(table.rows["mean"][known]), abs=0.5001 * 10**-table.decimals)


@pytest.mark.parametrize("measure", ["share", "effect"])
def test_the_leading_term_is_that_of_the_data(measure: str) -> None:
    figure = FIGURES["terms_heads"].make(VIEWS["terms"].defaults() | {"measure": measure})
    heads = figure.frame().pivot(index="head", columns="term", values=measure)
    leads = heads.idxmax(axis=1).value_counts()
    assert f"in {leads.iloc[0]} of {len(heads)} heads" in figure.finding
    assert leads.index[0].replace("_to_", " → ") in figure.finding.lower()
    assert sum(map(int, re.findall(r"in (\d+)", figure.finding))) == len(heads), "every head is counted"
