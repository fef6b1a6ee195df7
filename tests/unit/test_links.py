"""Proves that a link says all that a view is, and that a link that cannot be followed says why.

What a page's state is put into a link and read back unchanged, whatever its text; only what differs from
the defaults stands in it; and every figure that a page names exists, with its drawing, and the reverse.
"""

from urllib.parse import parse_qs, urlsplit

import pytest

from analysis.core.errors import LinkError
from analysis.figures import FIGURES
from analysis.links import VIEWS, Field, Value, View, link, parse, public_address

TEXTS = [
    "plain",
    " spaces at both ends ",
    "a=b&c=d#e?f/g;h+i%20%",
    "naïve café → 日本語 🙂 \u202e",
    "quotes \" and ' and <script>&amp;",
    "two\nlines\tand a tab",
    "word " * 1_200,
]
OTHER: dict[type, list[Value]] = {
    str: list(TEXTS),
    int: [0, 7, -3, 999_999_999],
    bool: [True, False],
    tuple: [(), ("one",), ("b", "a", "two words", "naïve&=")],
}


def fields() -> list[tuple[str, Field]]:
    return [(page, field) for page, view in VIEWS.items() for field in view.fields]


@pytest.mark.parametrize(("page", "field"), fields(), ids=lambda x: getattr(x, "name", x))
def test_every_value_of_every_field_round_trips(page: str, field: Field) -> None:
    for value in [field.default, *OTHER[type(field.default)]]:
        view, values = parse(link(page, {field.name: value}))
        assert view is VIEWS[page]
        assert values == {**view.defaults(), field.name: value}
        assert type(values[field.name]) is type(value)


@pytest.mark.parametrize("page", VIEWS)
def test_a_whole_state_round_trips(page: str) -> None:
    state = {field.name: OTHER[type(field.default)][-1] for field in VIEWS[page].fields}
    assert parse(link(page, state)) == (VIEWS[page], state)


def test_a_tuple_that_is_not_empty_by_default_can_be_emptied() -> None:
    field = Field("without", ("cola",))
    view = View("made_up", "Made up", (field,))
    assert view.parameters({"without": ()}) == {"without": [""]}
    assert view.parse({"without": [""]}) == ({"without": ()}, [])


@pytest.mark.parametrize("page", VIEWS)
def test_the_defaults_need_no_words(page: str) -> None:
    assert link(page, VIEWS[page].defaults()) == link(page) == f"http://localhost:8501/{page}"
    assert parse(link(page)) == (VIEWS[page], VIEWS[page].defaults())


def test_only_what_differs_from_the_default_is_in_a_link() -> None:
    made = link("terms", {**VIEWS["terms"].defaults(), "head": 3, "words": True})
    assert parse_qs(urlsplit(made).query) == {"head": ["3"], "words": ["1"]}


def test_a_link_is_plain_text() -> None:
    for text in TEXTS:
        made = link("probe", {"text": text})
        assert made.isascii()
        assert made.isprintable()
        assert not set(made) & set(" <>\"'")


def test_home_is_the_root() -> None:
    """A default page's own path does not open in Streamlit."""
    assert link("") == "http://localhost:8501/"
    for address in ("http://localhost:8501", "http://localhost:8501/", "https://example.org?", "/"):
        assert parse(address)[0] is VIEWS[""]


def test_the_public_address_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    assert public_address("https://seen.example/") == "https://seen.example"
    assert link("terms", address="https://seen.example/") == "https://seen.example/terms"
    monkeypatch.setenv("ADDEND_PUBLIC_URL", "https://addend.example/app/")
    for page in VIEWS:
        made = link(page, address="http://10.0.0.1:8501")
        assert made == f"https://addend.example/app/{page}"
        assert parse(made)[0] is VIEWS[page], "a link behind a path of the server's must be found again"


@pytest.fixture(autouse=True)
def _no_public_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ADDEND_PUBLIC_URL", raising=False)


@pytest.mark.parametrize(
    "address", ["termz", "http://localhost:8501/termz", "http://localhost:8501/terms/extra?head=1"]
)
def test_an_unknown_page_is_answered_with_the_known_ones(address: str) -> None:
    page = urlsplit(address).path.rsplit("/", 1)[-1]
    with pytest.raises(LinkError) as said:
        parse(address)
    assert str(said.value) == (
        f"The link names the page {page!r}; expected one of: (root), {', '.join(page for page in VIEWS if page)}."
    )


def test_an_unknown_field_is_answered_with_the_known_ones() -> None:
    known = ", ".join(sorted(field.name for field in VIEWS["encodings"].fields))
    with pytest.raises(LinkError) as said:
        parse("http://localhost:8501/encodings?colour=red&length=64")
    assert str(said.value) == f"The page 'encodings' has no field 'colour'; it has: {known}."


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("head=first", "The link says head='first'; expected a whole number."),
        ("head=1.5", "The link says head='1.5'; expected a whole number."),
        ("head=", "The link says head=''; expected a whole number."),
        ("head=--1", "The link says head='--1'; expected a whole number."),
        ("head=12345678901", "The link says head='12345678901'; expected a whole number."),
        ("words=yes", "The link says words='yes'; expected 0 or 1."),
        ("words=", "The link says words=''; expected 0 or 1."),
    ],
)
def test_a_value_that_cannot_be_taken_is_said_and_its_default_shown(query: str, expected: str) -> None:
    with pytest.raises(LinkError) as said:
        parse(f"http://localhost:8501/terms?{query}")
    assert str(said.value) == expected
    values, problems = VIEWS["terms"].parse({"measure": ["effect"], **parse_qs(query, keep_blank_values=True)})
    assert values == {**VIEWS["terms"].defaults(), "measure": "effect"}, "the rest of the link holds"
    assert problems == [f"{expected} Its default is shown."]


def test_something_that_is_no_address_is_said() -> None:
    with pytest.raises(LinkError, match=r"'http://\[' is not a link; expected one that a page's Copy link gives\."):
        parse("http://[")


def test_pages_and_fields_are_named_once() -> None:
    for page, view in VIEWS.items():
        assert view.page == page
        names = [field.name for field in view.fields]
        assert len(names) == len(set(names))


def test_every_figure_of_a_page_is_registered_and_every_registered_one_is_on_a_page() -> None:
    named = {name for view in VIEWS.values() for name in view.figures}
    assert named == set(FIGURES)
