"""Every form of link that was ever given opens, and what it says is what the page shows."""

from pathlib import Path
from urllib.parse import parse_qs

import pytest

from analysis.links import VIEWS
from analysis.moved_links import MOVED, moved
from tests.app.shown import opened

ROOT = Path(__file__).parents[2]
LINKS = [
    line
    for line in (ROOT / "tests" / "old_links.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize("link", LINKS)
def test_an_old_link_opens_what_it_opened(link: str) -> None:
    page, _, query = link.partition("?")
    raw = parse_qs(query, keep_blank_values=True)
    values, problems = VIEWS[page].parse(raw)
    assert set(raw) <= set(values), "a field that links have is not known any more"
    assert problems == []
    app = opened(page, **raw)
    assert [*app.exception, *app.error, *app.warning] == []
    named = set(raw)
    if page in MOVED:  # The fields of the page that shows it now, which may have other names.
        page, values = moved(page, values)
        named = set(VIEWS[page].parameters(values))
        assert app.title[0].value == VIEWS[page].title
    for name in (named & set(values)) - {"verdict"}:  # The words of the first verdicts have become others.
        held = app.session_state[f"{page}.{name}"]
        assert (tuple(held) if isinstance(held, list) else held) == values[name], f"{name} is not what the link says"


def test_every_page_that_links_can_set_is_in_the_list() -> None:
    assert {link.partition("?")[0] for link in LINKS} == {page for page, view in VIEWS.items() if view.fields}
